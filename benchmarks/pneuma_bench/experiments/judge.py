"""Does the judge bring the right table first, and does it depend on the order of what it reads?

    python -m pneuma_bench.experiments.judge FOLDER [--model NAME] [--keep KEPT] [--questions 40]

For each set, of drawn questions that a table answers, by the model behind the endpoint in
PNEUMA_BENCH_ENDPOINT: the share whose first table is right without the judge, with it, and with it
when it reads the same tables in reversed order; the share whose first table that changes, for which
a judge of no bias has 0; the share whose tables it all refuses, and of tables without a verdict.
The order of the search decides between equal grades both times.
"""

import random
from collections.abc import Sequence

from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.search.judge import MOST_JUDGED, by_grade, graded
from pneuma_assets.core.search.results import TableResult
from pneuma_bench.experiments.support.models import add_models
from pneuma_bench.experiments.support.sets import arguments, means, sets_of
from pneuma_bench.lab import Lab
from pneuma_bench.models import open_model


def main() -> None:
    parser = arguments(__doc__)
    add_models(parser)
    parser.add_argument("--questions", type=int, default=40, help="of each set, drawn")
    given = parser.parse_args()
    model = open_model(given.model)
    for name, dataset in sets_of(given.folder).items():
        with Lab(dataset, given.keep) as lab:
            figures = measured(lab, model, given.questions)
            print(f"{name}: {means(figures)}", flush=True)
    model.close()


def measured(lab: Lab, model: LanguageModel, most: int) -> dict[str, list[float]]:
    """Return of each question, or of each table that is read, whether it is so: 1 or 0."""
    every = zip(lab.dataset.questions, map(set, lab.dataset.relevant), strict=True)
    answered = [one for one in every if one[1]]
    asked = random.Random(0).sample(answered, min(most, len(answered)))
    questions = [text for text, _ in asked]
    known = lab.index()[0].evidence
    found = lab.engine().ask_many(questions, k=MOST_JUDGED, judge=False)
    read, problem = graded(model, questions, found, known)
    back, _ = graded(model, questions, [one[::-1] for one in found], known)
    if problem:
        print(problem)
    judged, other = [*map(by_grade, read)], [by_grade(one[::-1]) for one in back]

    def right(answers: Sequence[Sequence[TableResult]]) -> list[float]:
        pairs = zip(answers, asked, strict=True)
        return [float(bool(one) and one[0].table_id in gold) for one, (_, gold) in pairs]

    firsts = [(a[0].table_id, b[0].table_id) for a, b in zip(judged, other, strict=True) if a]
    return {
        "R@1 without": right(found),
        "with": right(judged),
        "reversed": right(other),
        "first changed": [float(one != another) for one, another in firsts],
        "all refused": [float(one[0].parts.is_refused) for one in judged if one],
        "no verdict": [float(one.parts.judge is None) for some in judged for one in some],
    }


if __name__ == "__main__":
    main()
