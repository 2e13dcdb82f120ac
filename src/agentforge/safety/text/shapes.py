"""The shapes of secrets, as the vendors publish them for secret scanners. Data only."""

from __future__ import annotations

from typing import NamedTuple


class Shape(NamedTuple):
    """One kind of secret.

    Attributes:
        hints: texts of which at least one stands in front of every such secret; a cheap look before the costly one.
        form: regular expression; its group `secret`, where there is one, is what is cut out. Compiled when a hint is
            found: most texts need none of them.
    """

    kind: str
    hints: tuple[str, ...]
    form: str


def _shape(kind: str, hints: str, form: str) -> Shape:
    return Shape(kind, tuple(hints.split()), form)


_BOUND = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""No letter or digit in front, unless it is the end of an escaped line break in source or JSON."""
_END = r"(?![A-Za-z0-9])"
SHAPES = (
    _shape(
        "private-key",
        "-----BEGIN",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"(?P<secret>(?:[\sA-Za-z0-9+/=\\]|(?:Proc-Type|DEK-Info|Version|Comment): [^\n]*\n){40,})",
    ),
    _shape("private-key", "b3BlbnNzaC1rZXktdjE", r"b3BlbnNzaC1rZXktdjE(?:[\sA-Za-z0-9+/=]|\\[nrt]){40,}"),
    _shape("anthropic-key", "sk-ant-", _BOUND + r"sk-ant-(?:api|admin|sid|oat)?\d*-?[A-Za-z0-9_-]{20,}"),
    _shape("openrouter-key", "sk-or-", _BOUND + r"sk-or-(?:v1-)?[A-Za-z0-9]{32,}"),
    _shape(
        "openai-key",
        "sk-",
        _BOUND + r"sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}|(?=[A-Za-z]*\d)[A-Za-z0-9]{32,})",
    ),
    _shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", _BOUND + r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _shape("github-token", "github_pat_", _BOUND + r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{40,}"),
    _shape(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glsoat-",
        _BOUND + r"gl(?:pat|dt|rt|cbt|ptt|soat)-[A-Za-z0-9_-]{20,}(?:\.[a-z0-9]{2}\.[a-z0-9]{9})?",
    ),
    _shape("slack-token", "xox xapp-", _BOUND + r"(?:xox[abprs]|xoxe(?:\.xox[bp])?|xapp)-[0-9][A-Za-z0-9-]{20,}"),
    _shape(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows)/"
        r"(?P<secret>T[A-Z0-9]{6,}/[A-Z0-9]{6,}/[A-Za-z0-9]{16,})",
    ),
    _shape(
        "discord-webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/\d{17,20}/"
        r"(?P<secret>[A-Za-z0-9_-]{60,})",
    ),
    _shape(
        "aws-key-id", "AKIA ASIA ABIA ACCA", _BOUND + r"(?:AKIA|ASIA|ABIA|ACCA)(?![A-Z2-7]*EXAMPLE)[A-Z2-7]{16}" + _END
    ),
    _shape(
        "aws-secret",
        "aws_secret AWS_SECRET",
        r"(?i:aws_secret_access_key)[\"']?\s*[=:]\s*[\"']?"
        r"(?P<secret>(?=[A-Za-z/+]*\d)[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _shape("google-key", "AIza", _BOUND + r"AIza[A-Za-z0-9_-]{35}" + _END),
    _shape("google-oauth", "GOCSPX- ya29.", _BOUND + r"(?:GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{40,})"),
    _shape(
        "stripe-key",
        "k_live_ k_test_ whsec_",
        _BOUND + r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9]{32,})",
    ),
    _shape("npm-token", "npm_", _BOUND + r"npm_[A-Za-z0-9]{36}" + _END),
    _shape("pypi-token", "pypi-AgE", _BOUND + r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    _shape("huggingface-token", "hf_", _BOUND + r"hf_[A-Za-z0-9]{34}" + _END),
    _shape("groq-key", "gsk_", _BOUND + r"gsk_[A-Za-z0-9]{48,}"),
    _shape("xai-key", "xai-", _BOUND + r"xai-[A-Za-z0-9]{64,}"),
    _shape("replicate-token", "r8_", _BOUND + r"r8_[A-Za-z0-9]{37,40}" + _END),
    _shape("perplexity-key", "pplx-", _BOUND + r"pplx-[A-Za-z0-9]{40,}"),
    _shape("sendgrid-key", "SG.", _BOUND + r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _shape("mailgun-key", "key-", _BOUND + r"key-(?=[a-f]*[0-9])[0-9a-f]{32}" + _END),
    _shape("twilio-key", "SK", _BOUND + r"SK(?=[a-f]*[0-9])[0-9a-f]{32}" + _END),
    _shape("shopify-token", "shp", _BOUND + r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _shape("digitalocean-token", "_v1_", _BOUND + r"do[por]_v1_[a-f0-9]{64}"),
    _shape("azure-storage-key", "AccountKey=", r"AccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)"),
    _shape("databricks-token", "dapi", _BOUND + r"dapi[0-9a-f]{32}" + _END),
    _shape("linear-key", "lin_api_", _BOUND + r"lin_api_[A-Za-z0-9]{40}"),
    _shape("vault-token", "hvs. hvb.", _BOUND + r"hv[sb]\.[A-Za-z0-9_-]{24,}"),
    _shape("telegram-token", ":AA", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{33}" + _END),
    _shape("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _shape("atlassian-token", "ATATT3 ATCTT3 ATBB", _BOUND + r"(?:AT[AC]TT3[A-Za-z0-9_=-]{40,}|ATBB[A-Za-z0-9]{32})"),
    _shape("docker-token", "dckr_", _BOUND + r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}"),
    _shape("rubygems-key", "rubygems_", _BOUND + r"rubygems_[a-f0-9]{48}" + _END),
    _shape("crates-token", "cio", _BOUND + r"cio(?=[A-Za-z]*\d)[A-Za-z0-9]{32}" + _END),
    _shape("postman-key", "PMAK-", _BOUND + r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _shape("pulumi-token", "pul-", _BOUND + r"pul-[a-f0-9]{40}" + _END),
    _shape("terraform-token", ".atlasv1.", _BOUND + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    _shape("sentry-token", "sntrys_ sntryu_", _BOUND + r"sntry[su]_[A-Za-z0-9+/=_-]{43,}"),
    _shape("newrelic-key", "NRAK-", _BOUND + r"NRAK-[A-Z0-9]{27}" + _END),
    _shape("grafana-token", "glsa_ glc_", _BOUND + r"(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/]{32,}=*)"),
    _shape("doppler-token", "dp.", _BOUND + r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{40,}"),
    _shape("fly-token", "FlyV1 fo1_ fm2_", _BOUND + r"(?:fo1_|fm[12][ar]?_)[A-Za-z0-9+/=_-]{40,}"),
    _shape("netlify-token", "nfp_", _BOUND + r"nfp_[A-Za-z0-9]{36,}"),
    _shape("supabase-token", "sbp_ sb_secret_", _BOUND + r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{24,})"),
    _shape("planetscale-token", "pscale_", _BOUND + r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9._-]{32,}"),
    _shape("heroku-key", "HRKU-", _BOUND + r"HRKU-[A-Za-z0-9_-]{36,}"),
    _shape("buildkite-token", "bkua_", _BOUND + r"bkua_[a-f0-9]{40}" + _END),
    _shape("circleci-token", "CCIPAT_", _BOUND + r"CCIPAT_[A-Za-z0-9]{20,}_[a-f0-9]{40}"),
    _shape("sonarqube-token", "sqp_ squ_ sqa_", _BOUND + r"sq[pua]_[a-f0-9]{40}" + _END),
    _shape("figma-token", "figd_", _BOUND + r"figd_[A-Za-z0-9_-]{40,}"),
    _shape(
        "notion-token",
        "ntn_ secret_",
        _BOUND + r"(?:ntn_[A-Za-z0-9]{43,}|secret_(?=[A-Za-z]*\d)[A-Za-z0-9]{43})" + _END,
    ),
    _shape("brevo-key", "xkeysib-", _BOUND + r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _shape("onepassword-token", "ops_eyJ", _BOUND + r"ops_eyJ[A-Za-z0-9+/=_-]{100,}"),
    _shape("langsmith-key", "lsv2_", _BOUND + r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    _shape("tavily-key", "tvly-", _BOUND + r"tvly-(?:dev-|prod-)?(?=[A-Za-z]*\d)[A-Za-z0-9]{32,}"),
    _shape("elevenlabs-key", "sk_", _BOUND + r"sk_(?=[a-f]*\d)[a-f0-9]{48}" + _END),
    _shape("square-token", "sq0", _BOUND + r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}" + _END),
    _shape("alibaba-key", "LTAI", _BOUND + r"LTAI(?=[A-Za-z]*\d)[A-Za-z0-9]{20}" + _END),
    _shape("azure-client-secret", "Q~", _BOUND + r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}" + _END),
    _shape("contentful-token", "CFPAT-", _BOUND + r"CFPAT-[A-Za-z0-9_-]{43}"),
    _shape("artifactory-key", "AKCp", _BOUND + r"AKCp[A-Za-z0-9]{69}" + _END),
    _shape("jwt", "eyJ", _BOUND + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}"),
    _shape("bearer", "earer ", r"[Aa]uthorization[\"']?\s*[:=]\s*[\"']?[Bb]earer (?P<secret>[A-Za-z0-9._~+/-]{16,}=*)"),
    _shape("basic-auth", "asic ", r"[Aa]uthorization[\"']?\s*[:=]\s*[\"']?[Bb]asic (?P<secret>[A-Za-z0-9+/]{16,}=*)"),
    _shape("url-password", "://", r"://[^\s/:@'\"<>{}$()]{0,64}:(?P<secret>[^\s/:@'\"<>{}$()\[\]%*]{6,128})@[\w.-]+"),
)
