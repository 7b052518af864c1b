"""The embedded index with its calls counted."""

from pneuma_assets.core.index.embedded.engine import EmbeddedIndex


class CountingIndex(EmbeddedIndex):
    """Counts the calls of a question, and can lose tables between the search and the scores."""

    calls: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def search(self, *arguments, **options):
        self.calls += ("search",)
        found = super().search(*arguments, **options)
        self.delete_tables(self.lost)
        return found

    def scores(self, *arguments, **options):
        self.calls += ("scores",)
        return super().scores(*arguments, **options)

    def table_scores(self, *arguments, **options):
        self.calls += ("table_scores",)
        return super().table_scores(*arguments, **options)

    def holding(self, *arguments, **options):
        self.calls += ("holding",)
        return super().holding(*arguments, **options)

    def evidence(self, *arguments, **options):
        self.calls += ("evidence",)
        return super().evidence(*arguments, **options)
