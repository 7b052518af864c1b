"""The questions that a data set's creators should answer, as "Datasheets for Datasets" asks them.

Gebru, Morgenstern, Vecchione, Vaughan, Wallach, Daumé III, Crawford: "Datasheets for Datasets",
Communications of the ACM 64(12), 2021, whose questions are quoted here word for word, as the
authors of Pneuma asked a model to answer them of every table (section 6.2.1).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_IN_BRACKETS = re.compile(r"\s*\([^()]*\)")
_CONDITIONAL = re.compile(r"(If (so|not|the|there|it|consent)|Please)\b")


@dataclass(frozen=True, slots=True)
class DatasheetQuestion:
    """One of the 51.

    Attributes:
        number: From 1, in the order of the paper.
        section: What it is about, such as `motivation`.
        text: Its words.
    """

    number: int
    section: str
    text: str

    @property
    def parts(self) -> tuple[str, ...]:
        """Return what it asks, without examples and without what only follows from an answer.

        A part asks "who funded it?"; "if so, please provide a description" asks for nothing else.
        """
        plain = _IN_BRACKETS.sub("", self.text)
        asked = [one.strip() for one in re.findall(r"[^.?]*\?", plain)]
        return tuple(one for one in asked if not _CONDITIONAL.match(one)) or (plain,)


def _numbered() -> Iterator[DatasheetQuestion]:
    number = 0
    for section, questions in _SECTIONS.items():
        for text in questions:
            number += 1
            yield DatasheetQuestion(number, section, text)


_SECTIONS = {
    "motivation": (
        "For what purpose was the dataset created? Was there a specific task in mind? Was "
        "there a specific gap that needed to be filled? Please provide a description.",
        "Who created the dataset (e.g., which team, research group) and on behalf of which "
        "entity (e.g., company, institution, organization)?",
        "Who funded the creation of the dataset? If there is an associated grant, please "
        "provide the name of the grantor and the grant name and number.",
        "Any other comments?",
    ),
    "composition": (
        "What do the instances that comprise the dataset represent (e.g., documents, photos, "
        "people, countries)? Are there multiple types of instances (e.g., movies, users, and "
        "ratings; people and interactions between them; nodes and edges)? Please provide a "
        "description.",
        "How many instances are there in total (of each type, if appropriate)?",
        "Does the dataset contain all possible instances or is it a sample (not necessarily "
        "random) of instances from a larger set? If the dataset is a sample, then what is the"
        " larger set? Is the sample representative of the larger set (e.g., geographic "
        "coverage)? If so, please describe how this representativeness was "
        "validated/verified. If it is not representative of the larger set, please describe "
        "why not (e.g., to cover a more diverse range of instances, because instances were "
        "withheld or unavailable).",
        "What data does each instance consist of? “Raw” data (e.g., unprocessed text or "
        "images) or features? In either case, please provide a description.",
        "Is there a label or target associated with each instance? If so, please provide a "
        "description.",
        "Is any information missing from individual instances? If so, please provide a "
        "description, explaining why this information is missing (e.g., because it was "
        "unavailable). This does not include intentionally removed information, but might "
        "include, e.g., redacted text.",
        "Are relationships between individual instances made explicit (e.g., users’ movie "  # noqa: RUF001
        "ratings, social network links)? If so, please describe how these relationships are "
        "made explicit.",
        "Are there recommended data splits (e.g., training, development/validation, testing)?"
        " If so, please provide a description of these splits, explaining the rationale "
        "behind them.",
        "Are there any errors, sources of noise, or redundancies in the dataset? If so, "
        "please provide a description.",
        "Is the dataset self-contained, or does it link to or otherwise rely on external "
        "resources (e.g., websites, tweets, other datasets)? If it links to or relies on "
        "external resources, a) are there guarantees that they will exist, and remain "
        "constant, over time; b) are there official archival versions of the complete dataset"
        " (i.e., including the external resources as they existed at the time the dataset was"
        " created); c) are there any restrictions (e.g., licenses, fees) associated with any "
        "of the external resources that might apply to a dataset consumer? Please provide "
        "descriptions of all external resources and any restrictions associated with them, as"
        " well as links or other access points, as appropriate.",
        "Does the dataset contain data that might be considered confidential (e.g., data that"
        " is protected by legal privilege or by doctor–patient confidentiality, data that "  # noqa: RUF001
        "includes the content of individuals’ non-public communications)? If so, please "  # noqa: RUF001
        "provide a description.",
        "Does the dataset contain data that, if viewed directly, might be offensive, "
        "insulting, threatening, or might otherwise cause anxiety? If so, please describe "
        "why.",
        "Does the dataset identify any subpopulations (e.g., by age, gender)? If so, please "
        "describe how these subpopulations are identified and provide a description of their "
        "respective distributions within the dataset.",
        "Is it possible to identify individuals (i.e., one or more natural persons), either "
        "directly or indirectly (i.e., in combination with other data) from the dataset? If "
        "so, please describe how.",
        "Does the dataset contain data that might be considered sensitive in any way (e.g., "
        "data that reveals race or ethnic origins, sexual orientations, religious beliefs, "
        "political opinions or union memberships, or locations; financial or health data; "
        "biometric or genetic data; forms of government identification, such as social "
        "security numbers; criminal history)? If so, please provide a description.",
    ),
    "collection": (
        "How was the data associated with each instance acquired? Was the data directly "
        "observable (e.g., raw text, movie ratings), reported by subjects (e.g., survey "
        "responses), or indirectly inferred/derived from other data (e.g., part-of-speech "
        "tags, model-based guesses for age or language)? If the data was reported by subjects"
        " or indirectly inferred/derived from other data, was the data validated/verified? If"
        " so, please describe how.",
        "What mechanisms or procedures were used to collect the data (e.g., hardware "
        "apparatuses or sensors, manual human curation, software programs, software APIs)? "
        "How were these mechanisms or procedures validated?",
        "If the dataset is a sample from a larger set, what was the sampling strategy (e.g., "
        "deterministic, probabilistic with specific sampling probabilities)?",
        "Who was involved in the data collection process (e.g., students, crowdworkers, "
        "contractors) and how were they compensated (e.g., how much were crowdworkers paid)?",
        "Over what timeframe was the data collected? Does this timeframe match the creation "
        "timeframe of the data associated with the instances (e.g., recent crawl of old news "
        "articles)? If not, please describe the timeframe in which the data associated with "
        "the instances was created.",
        "Were any ethical review processes conducted (e.g., by an institutional review "
        "board)? If so, please provide a description of these review processes, including the"
        " outcomes, as well as a link or other access point to any supporting documentation.",
        "Did you collect the data from the individuals in question directly, or obtain it via"
        " third parties or other sources (e.g., websites)?",
        "Were the individuals in question notified about the data collection? If so, please "
        "describe (or show with screenshots or other information) how notice was provided, "
        "and provide a link or other access point to, or otherwise reproduce, the exact "
        "language of the notification itself.",
        "Did the individuals in question consent to the collection and use of their data? If "
        "so, please describe (or show with screenshots or other information) how consent was "
        "requested and provided, and provide a link or other access point to, or otherwise "
        "reproduce, the exact language to which the individuals consented.",
        "If consent was obtained, were the consenting individuals provided with a mechanism "
        "to revoke their consent in the future or for certain uses? If so, please provide a "
        "description, as well as a link or other access point to the mechanism (if "
        "appropriate).",
        "Has an analysis of the potential impact of the dataset and its use on data subjects "
        "(e.g., a data protection impact analysis) been conducted? If so, please provide a "
        "description of this analysis, including the outcomes, as well as a link or other "
        "access point to any supporting documentation.",
    ),
    "preprocessing": (
        "Was any preprocessing/cleaning/labeling of the data done (e.g., discretization or "
        "bucketing, tokenization, part-of-speech tagging, SIFT feature extraction, removal of"
        " instances, processing of missing values)? If so, please provide a description. If "
        "not, you may skip the remaining questions in this section.",
        "Was the “raw” data saved in addition to the preprocessed/cleaned/labeled data (e.g.,"
        " to support unanticipated future uses)? If so, please provide a link or other access"
        " point to the “raw” data.",
        "Is the software that was used to preprocess/clean/label the data available? If so, "
        "please provide a link or other access point.",
    ),
    "uses": (
        "Has the dataset been used for any tasks already? If so, please provide a description.",
        "Is there a repository that links to any or all papers or systems that use the "
        "dataset? If so, please provide a link or other access point.",
        "What (other) tasks could the dataset be used for?",
        "Is there anything about the composition of the dataset or the way it was collected "
        "and preprocessed/cleaned/labeled that might impact future uses? For example, is "
        "there anything that a dataset consumer might need to know to avoid uses that could "
        "result in unfair treatment of individuals or groups (e.g., stereotyping, quality of "
        "service issues) or other risks or harms (e.g., legal risks, financial harms)? If so,"
        " please provide a description. Is there anything a dataset consumer could do to "
        "mitigate these risks or harms?",
        "Are there tasks for which the dataset should not be used? If so, please provide a "
        "description.",
    ),
    "distribution": (
        "Will the dataset be distributed to third parties outside of the entity (e.g., "
        "company, institution, organization) on behalf of which the dataset was created? If "
        "so, please provide a description.",
        "How will the dataset will be distributed (e.g., tarball on website, API, GitHub)? "
        "Does the dataset have a digital object identifier (DOI)?",
        "When will the dataset be distributed?",
        "Will the dataset be distributed under a copyright or other intellectual property "
        "(IP) license, and/or under applicable terms of use (ToU)? If so, please describe "
        "this license and/or ToU, and provide a link or other access point to, or otherwise "
        "reproduce, any relevant licensing terms or ToU, as well as any fees associated with "
        "these restrictions.",
        "Have any third parties imposed IP-based or other restrictions on the data associated"
        " with the instances? If so, please describe these restrictions, and provide a link "
        "or other access point to, or otherwise reproduce, any relevant licensing terms, as "
        "well as any fees associated with these restrictions.",
        "Do any export controls or other regulatory restrictions apply to the dataset or to "
        "individual instances? If so, please describe these restrictions, and provide a link "
        "or other access point to, or otherwise reproduce, any supporting documentation.",
    ),
    "maintenance": (
        "Who will be supporting/hosting/maintaining the dataset?",
        "How can the owner/curator/manager of the dataset be contacted (e.g., email address)?",
        "Is there an erratum? If so, please provide a link or other access point.",
        "Will the dataset be updated (e.g., to correct labeling errors, add new instances, "
        "delete instances)? If so, please describe how often, by whom, and how updates will "
        "be communicated to dataset consumers (e.g., mailing list, GitHub)?",
        "If the dataset relates to people, are there applicable limits on the retention of "
        "the data associated with the instances (e.g., were the individuals in question told "
        "that their data would be retained for a fixed period of time and then deleted)? If "
        "so, please describe these limits and explain how they will be enforced.",
        "Will older versions of the dataset continue to be supported/hosted/maintained? If "
        "so, please describe how. If not, please describe how its obsolescence will be "
        "communicated to dataset consumers.",
        "If others want to extend/augment/build on/contribute to the dataset, is there a "
        "mechanism for them to do so? If so, please provide a description. Will these "
        "contributions be validated/verified? If so, please describe how. If not, why not? Is"
        " there a process for communicating/distributing these contributions to dataset "
        "consumers? If so, please provide a description.",
    ),
}

DATASHEET = tuple(_numbered())
"""All of them."""

SECTIONS = tuple(_SECTIONS)
"""In their order."""
