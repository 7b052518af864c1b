"""Language-model back ends behind `base.LanguageModel`."""
