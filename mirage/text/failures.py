"""Failures in the place of an answer: error messages of programs and services, and words for no value.

failure("Error code: 429 - {...}")   # ("api_error", "Error code: 429 - {...}")
failure("nan")                       # ("missing", "the file has nan")
"""

import re

_LONGEST = 400
"""Characters from which a text is an answer, whatever it begins with."""
_ERROR = re.compile(
    r"""\W*(?:
    (?:(?:api|llm|server|client|http|request)[ ])?(?:error|http(?:/\d\S*)?)(?:[ ]code)?[:=]?[ ]?[45]\d\d\b
        (?:\s*[-:–—({\[,].*|[ ](?:too[ ]many|bad|internal|service|not|unauthori[sz]ed|gateway|client|server)\b.*)?
    |status[ ](?:code)?[:=]?[ ]?[45]\d\d\b(?:\s*[-:({,].*)?
    |(?:[45]\d\d\W+)?(?:internal[ ]server[ ]error|bad[ ]gateway|gateway[ ]time-?out|too[ ]many[ ]requests
        |service[ ](?:temporarily[ ])?unavailable)\b.*
    |[45]\d\d[ ](?:client[ ]error|server[ ]error|unauthori[sz]ed|forbidden)\b.*
    |(?:\w+\.)*(?:ratelimit|api(?:connection|status|timeout|response)?|badrequest|invalidrequest|internalserver|timeout
        |serviceunavailable|authentication|overloaded|connection|(?:read|connect)timeout)_?(?:error|exception)\b.*
    |(?:\w+\.)+\w*(?:error|exception|timeout|exhausted|denied|unavailable)\b.*
    |\w+\(.*\W(?:timed[ ]out|refused|retries)\b.*
    |\w+(?:error|exception|timeout)\s*[:(].*
    |traceback[ ]\(most[ ]recent[ ]call[ ]last\).*
    |(?:(?:llm|model|api|request|network|generation|connection|timeout)[ _]){0,2}(?:error|exception)
        (?:\s*[:*].*|[ ]due[ ]to.*)?
    |(?:llm|model|api|request|generation|inference)[ _](?:request[ _])?(?:failed|failure)
        (?:\s*[:(].*|[ ](?:with|after).*)?
    |(?:an?[ ])?(?:unexpected[ ]|unknown[ ]|internal[ ])?error[ ](?:has[ ])?occurred\b.*
    |(?:the[ ]|your[ ])?(?:api[ ]|llm[ ]|model[ ]|server[ ])?(?:request|connection|call)[ ](?:has[ ])?timed[ -]?out\b.*
    |connection[ ](?:refused|reset|aborted)(?:[ ]by[ ]peer)?
    |(?:read[ ]|connect(?:ion)?[ ])?(?:timed[ ]out|time-?out)
        (?:[ ](?:after|waiting|expired|exceeded|while)\b.*|\W*[:(].*)?
    |(?:rate[ -]?limit|quota)(?:[ ](?:was[ ]|has[ ]been[ ])?(?:reached|exceeded|hit)\b.*)?
    |you[ ](?:have[ ])?exceeded[ ]your[ ](?:current[ ])?(?:quota|rate[ ]limit)\b.*
    |(?:unable|failed)[ ]to[ ](?:generate|get|fetch|obtain)[ ](?:an?[ ]|the[ ])?
        (?:response|answer|completion|output)\b.*
    |(?:cuda|gpu)[ ]out[ ]of[ ]memory\b.*|max(?:imum)?[ ]retries[ ]exceeded\b.*
    |the[ ]response[ ]was[ ]filtered[ ]due[ ]to[ ].*
    |[{]\s*["']?(?:error|exception|error_message)["']?\s*:.*
    |(?:请求(?:超时|失败)|网络错误|服务器(?:错误|繁忙)|系统繁忙).*
    )\W*""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_NOTHING = frozenset(("nan", "NaN", "NAN", "None", "NONE", "null", "NULL", "N/A", "n/a", "#N/A", "NaT", "undefined"))
_MISSING = re.compile(r"[<\[({](?:NA|(?:no|empty|missing)(?:[ _-]\w+)?)[>\])}]|\[\s*\]|\{\s*\}", re.IGNORECASE)


def is_error(text: str) -> bool:
    """Return whether a whole text is the error message of a program or a service."""
    return len(text) < _LONGEST and _ERROR.fullmatch(text) is not None


def failure(text: str) -> tuple[str, str] | None:
    """Return status and reason of a text in the place of an answer that never came; None for an answer."""
    if is_error(text):
        return "api_error", text.strip()
    plain = text.strip()
    return ("missing", f"the file has {plain}") if plain in _NOTHING or _MISSING.fullmatch(plain) else None
