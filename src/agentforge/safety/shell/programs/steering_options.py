"""Options by which a program that is otherwise understood runs another one, installs, or leaves the machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from agentforge.safety.shell.grammar.syntax import Word, names
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged

_COMPILING = (
    r"-fplugin.*|-fpass-plugin.*|-B.*|-{1,2}specs.*|@.+|-wrapper|-load|-Xclang|-fuse-ld=.*/.*|-Wl,.*(?:plugin|linker).*"
)
_MAVEN = (
    r"(?:.*:)?(?:exec|java|antrun|run)|exec:.*|antrun:.*|-D(?:exec|maven\.ext)\..*|-g?s|--(?:global-)?settings.*"
    r"|-Djvm=.*|-D\w*argLine=.*(?:agent|-XX:On|@).*"
)
_CMAKE = r"-D ?CMAKE_\w*(?:COMPILER|LAUNCHER|LINKER|AR|MAKE_PROGRAM|RULE)\w*(?::\w+)?=[^ ]*[/;].*"
_EMPTIED = r"--baset\w*[= ](?!/tmp/|/var/tmp/).*"
_EMPTIED_SITE = r"(?:-d|--site-dir)[= ](?!(?:site|public|build|_site|dist|out)/?$).*"
_TABLE: dict[str, tuple[tuple[str, Kind], ...]] = {
    **dict.fromkeys(names("gcc g++ cc c++ clang clang++"), ((_COMPILING, Kind.UNKNOWN),)),
    **dict.fromkeys(names("ld ar as"), ((r"-{1,2}plugin.*|@.+", Kind.UNKNOWN),)),
    "ghc": ((r"-e|-F|-pgm.*|--interactive|--run|-fplugin.*", Kind.UNKNOWN),),
    "kotlinc": ((r"-e(?:xpression)?|-script|-Xplugin.*|-J.*|@.+", Kind.UNKNOWN),),
    "rake": ((r"-[eEpr].*|--exec.*|--require.*", Kind.UNKNOWN),),
    "rollup": ((r"(?:--plugin=?|-p)?[^-].*[^\w.,@/=:*-].*", Kind.UNKNOWN),),
    "nx": ((r"exec", Kind.UNKNOWN),),
    "gotestsum": ((r"--(?:raw|post-run)-command.*", Kind.UNKNOWN),),
    "phpunit": ((r"-d.*|.*(?:auto_(?:pre|ap)pend_file|disable_functions|allow_url_include).*", Kind.UNKNOWN),),
    "pyright": ((r"--pythonpath.*", Kind.UNKNOWN),),
    "doxygen": ((r"-", Kind.UNKNOWN),),
    "esbuild": ((r"--serve.*|--watch.*", Kind.SERVER),),
    "eslint": ((r"--init", Kind.INSTALL),),
    "javac": ((r"-{1,2}processor.*|-J.*|-Xplugin.*|@.+", Kind.UNKNOWN),),
    "rustc": ((r"(?:-C|--codegen=)?(?:linker|link-arg)s?=.*|-Z.*|@.+", Kind.UNKNOWN),),
    "protoc": ((r"--plugin.*|@.+", Kind.UNKNOWN),),
    **dict.fromkeys(("mvn", "mvnw"), ((_MAVEN, Kind.UNKNOWN),)),
    **dict.fromkeys(
        ("gradle", "gradlew"), ((r"-I.*|--init-script.*|--include-build.*|-Dorg\.gradle\..*", Kind.UNKNOWN),)
    ),
    "sbt": ((r"eval\b.*|set\b.*|.*[!\"();{}].*", Kind.UNKNOWN),),
    "ctest": ((r"-S.*|--script.*|--build-and-test|--build-\w+|--overwrite.*", Kind.UNKNOWN),),
    "cmake": ((r"--install|install(?:/.*)?", Kind.INSTALL), (_CMAKE, Kind.UNKNOWN)),
    "meson": ((r"install", Kind.INSTALL), (r"devenv|subprojects|--wr.*|--gdb.*", Kind.UNKNOWN)),
    **dict.fromkeys(("bazel", "buck"), ((r"run|mobile-install", Kind.RUN), (r"--run_under.*", Kind.UNKNOWN))),
    "mypy": ((r"--install-types", Kind.INSTALL), (r"--python-executable.*", Kind.UNKNOWN)),
    "pylint": ((r"--init-hook.*|--load-plugins.*", Kind.RUN),),
    **dict.fromkeys(
        ("pytest", "py.test"), ((r"--pastebin.*", Kind.NETWORK), (r"--tx.*|--rsync.*|@.+|-d", Kind.UNKNOWN),
         (_EMPTIED, Kind.DESTRUCTIVE)),
    ),
    "tox": ((r"exec|e|devenv|d|-x.*|--override.*", Kind.UNKNOWN),),
    "sphinx-build": ((r"-D.*|-C", Kind.UNKNOWN),),
    "mkdocs": ((r"serve", Kind.SERVER), (r"gh-deploy", Kind.NETWORK), (_EMPTIED_SITE, Kind.DESTRUCTIVE)),
    "cypress": ((r"--record|--key.*", Kind.NETWORK), (r"install", Kind.INSTALL)),
    "playwright": (
        (r"install(?:-deps)?|uninstall", Kind.INSTALL),
        (r"codegen|open|cr|ff|wk|screenshot|pdf|show-report|show-trace|merge-reports", Kind.NETWORK),
    ),
    "nodemon": ((r"-x|--exec.*", Kind.UNKNOWN),),
    **dict.fromkeys(names("tmux screen daemonize pm2 supervisord"), ((r"(?!ls$|list-sessions$|-ls$).*", Kind.UNKNOWN),)),
    "cargo": ((r"--config.*|-Z.*", Kind.UNKNOWN),),
    "go": ((r"-{1,2}(?:overlay|exec|toolexec|vettool)(?:=.*)?", Kind.UNKNOWN), (r"[\w.-]+\.\w+/.*@.*", Kind.INSTALL),
           (r"-{1,2}modcache", Kind.DESTRUCTIVE)),
    "deno": ((r"https?:.*|npm:.*|jsr:.*", Kind.NETWORK),),
}  # fmt: skip
_MEANING = {
    Kind.UNKNOWN: "runs another program by such an argument",
    Kind.RUN: "runs code that its arguments name",
    Kind.INSTALL: "installs by such an argument",
    Kind.NETWORK: "talks to other machines by such an argument",
    Kind.SERVER: "starts something that stays",
    Kind.DESTRUCTIVE: "empties a folder by such an argument",
}


def steered(name: str, words: Sequence[Word]) -> Judged | None:
    """Judge a program by an argument that makes it another one; None when there is none.

    Args:
        words: the arguments after the name.
    """
    pairs = [f"{word.known} {after.known}" for word, after in pairwise(words)]
    for pattern, kind in _TABLE.get(name, ()):
        texts = [word.known for word in words] + (pairs if " " in pattern else [])
        if any(re.fullmatch(pattern, text, re.DOTALL) for text in texts):
            return Judged(kind=kind, reason=f"{name} {_MEANING[kind]}")
    return None
