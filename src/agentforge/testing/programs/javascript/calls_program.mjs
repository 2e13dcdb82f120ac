// Evaluates calls and tells their results as [type, content]; which results are right is known to the caller alone. This text stands
// before that of a program which says what is evaluated and where the results go. The project is imported as any program would
// import it; TypeScript and JSX by what node or the project brings: node itself, esbuild, rolldown, typescript.
import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { types } from "node:util";
import { unlinkSync, writeFileSync, writeSync } from "node:fs";

const setup = globalThis.__setup;
delete globalThis.__setup;
const { root, word } = setup;
const stringify = JSON.stringify;
const AsyncFunction = (async () => {}).constructor;
const WITHOUT_NEW = /^Class constructor \w+ cannot be invoked without 'new'/;
const CLASS = /^class\b/;
const builtins = new Map(["Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError", "AggregateError"].map((name) => [globalThis[name], name]));
const [DEPTH, ITEMS, STREAMED] = [40, 20000, 1000];
const TYPED = [".ts", ".mts", ".cts", ".tsx", ".jsx"];
const require = createRequire(join(root, "package.json"));
const loaded = new Map();

/** Write one line of JSON to a descriptor. */
function writeLine(descriptor, record) {
  let rest = Buffer.from(`${stringify(record)}\n`, "utf8");
  while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
}

/** Evaluate one call; `shape` tells more of a value that is no plain one, `given` are values for names of their own. */
async function answer({ source, names, entry }, { shape = () => [], given = {}, keep = () => {} } = {}) {
  const values = { ...given };
  for (const [name, { file, whole }] of Object.entries(names)) {
    let module;
    try {
      module = await load(file);
    } catch (error) {
      if (cannotLoad(error)) return { lost: true, message: cut(error.message) };
      return { raised: lineage(error), stage: "import", message: cut(error?.message) };
    }
    const found = exported(module, name) ?? (await offered(entry, name)) ?? whole_of(module, whole);
    if (found === undefined) return { lost: true, message: `${file} exports no ${name}` };
    values[name] = found;
  }
  const evaluate = async (known) => {
    const run = new AsyncFunction(...Object.keys(known), `return (${source});`);
    const value = await run(...Object.values(known));
    keep(value);
    const told = encoded(value, 0, { left: ITEMS });
    return { value: told[0] === "object" ? [...told, ...shape(value)] : told };
  };
  try {
    return await evaluate(values).catch((error) => (WITHOUT_NEW.test(error?.message) ? evaluate(constructed(values)) : Promise.reject(error)));
  } catch (error) {
    return { raised: lineage(error), stage: "call", message: cut(error?.message) };
  }
}

/** The values with classes that are instantiated when they are called: `Point(1, 2)` of an example means `new Point(1, 2)`. */
function constructed(values) {
  const wrapped = (value) => (CLASS.test(source_of(value)) ? new Proxy(value, { apply: (made, _, given) => new made(...given) }) : value);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, wrapped(value)]));
}

function source_of(value) {
  return typeof value === "function" ? Function.prototype.toString.call(value) : "";
}

/** What a module exports by a name: an export, or a property of the default export. */
function exported(module, name) {
  if (name in module) return module[name];
  const own = module.default;
  return own !== null && (typeof own === "object" || typeof own === "function") ? own[name] : undefined;
}

/** What the package's own entry offers its users by a name that the file itself does not export. */
async function offered(entry, name) {
  if (!entry) return undefined;
  try {
    const module = await load(entry);
    return name in module ? module[name] : undefined;
  } catch {
    return undefined;
  }
}

/** What a file as a whole stands for: its default export, or the module where that may be meant. */
function whole_of(module, whole) {
  const own = module.default;
  if (typeof own === "function" || (whole && own !== undefined)) return own;
  return whole ? module : undefined;
}

/** Import a file of the project once. */
async function load(file) {
  if (!loaded.has(file)) loaded.set(file, await imported(join(root, file)));
  return loaded.get(file);
}

async function imported(path) {
  const native = !TYPED.includes(extname(path)) || (process.features.typescript && extname(path) !== ".tsx" && extname(path) !== ".jsx");
  if (native) {
    try {
      return await import(pathToFileURL(path).href);
    } catch (error) {
      if (!cannotLoad(error)) throw error;
    }
  }
  const made = join(dirname(path), `.${basename(path)}.${word}.mjs`);
  writeFileSync(made, await bundled(path));
  try {
    return await import(pathToFileURL(made).href);
  } finally {
    unlinkSync(made);
  }
}

/** One file with everything of the project in it; packages stay outside. */
async function bundled(path) {
  const esbuild = optional("esbuild");
  if (esbuild) {
    const options = { entryPoints: [path], bundle: true, write: false, platform: "node", format: "esm", packages: "external", logLevel: "silent" };
    return (await esbuild.build(options)).outputFiles[0].text;
  }
  const rolldown = optional("rolldown");
  if (rolldown) {
    const bundle = await rolldown.rolldown({ input: path, platform: "node", external: (id) => !/^[./\0]/.test(id) && !/^[@~]\//.test(id), logLevel: "silent" });
    return (await bundle.generate({ format: "esm" })).output[0].code;
  }
  const typescript = optional("typescript");
  if (typescript) {
    const options = { module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022, jsx: typescript.JsxEmit.React };
    return typescript.transpileModule((await import("node:fs")).readFileSync(path, "utf8"), { compilerOptions: options }).outputText;
  }
  throw Object.assign(new Error("nothing here can load this file outside of the test runner: no esbuild, rolldown or typescript"), { code: "ERR_UNKNOWN_FILE_EXTENSION" });
}

/** A package of the project; undefined when it has none. */
function optional(name) {
  for (const place of [root, dirname(locate("vite")), dirname(locate("vitest"))]) {
    try {
      return createRequire(join(place, "x.js"))(name);
    } catch {
      continue; // this place does not have it
    }
  }
  return undefined;
}

function locate(name) {
  try {
    return require.resolve(name);
  } catch {
    return join(root, "x");
  }
}

/** Whether an error only says that node's own loader cannot read a file, not that the file's code failed. */
function cannotLoad(error) {
  const code = error?.code ?? "";
  return ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ERR_UNKNOWN_FILE_EXTENSION", "ERR_UNSUPPORTED_DIR_IMPORT", "ERR_IMPORT_ATTRIBUTE_MISSING", "ERR_PACKAGE_PATH_NOT_EXPORTED"].includes(code) || error?.name === "SyntaxError" || Array.isArray(error?.errors);
}

/** The names of an error's classes, each with whether it is the built-in one. */
function lineage(error) {
  const names = [];
  for (let kind = error?.constructor; typeof kind === "function" && kind !== Object && names.length < 10; kind = Object.getPrototypeOf(kind)) {
    if (kind.name) names.push([kind.name, builtins.has(kind)]);
  }
  return names.length > 0 ? names : [[typeof error, true]];
}

/** A value as [type, content], by what it is and never by what it says of itself. */
function encoded(value, depth, room) {
  if (value === null || value === undefined) return ["NoneType", null];
  switch (typeof value) {
    case "string":
      return ["str", value];
    case "boolean":
      return ["bool", value];
    case "bigint":
      return ["int", hex(value)];
    case "number":
      return Number.isInteger(value) ? ["int", hex(BigInt(value))] : ["float", String(value).replace("Infinity", "inf").replace("NaN", "nan")];
    case "object":
      return depth > DEPTH || (room.left -= 1) < 0 ? ["too much", null] : ofObject(value, depth + 1, room);
    default:
      return ["object", typeof value, false];
  }
}

function ofObject(value, depth, room) {
  const inner = (one) => encoded(one, depth, room);
  if (types.isProxy(value)) return ["object", "Proxy", false];
  const kind = Object.getPrototypeOf(value);
  if (Array.isArray(value) && kind === Array.prototype) return ["list", Array.from(value, inner)];
  if (types.isSet(value) && kind === Set.prototype) return ["set", [...Set.prototype.values.call(value)].map(inner)];
  if (types.isMap(value) && kind === Map.prototype) return ["dict", [...Map.prototype.entries.call(value)].map((pair) => pair.map(inner))];
  if (kind === Object.prototype || kind === null) {
    const own = Object.entries(Object.getOwnPropertyDescriptors(value)).filter(([, one]) => one.enumerable);
    if (own.some(([, one]) => !("value" in one))) return ["object", "an object with getters", false];
    return ["dict", own.filter(([, one]) => one.value !== undefined).map(([key, one]) => [["str", key], inner(one.value)])];
  }
  if (types.isGeneratorObject(value)) {
    const items = [];
    for (const one of value) if (items.push(inner(one)) >= STREAMED) break;
    return ["iterator", "generator", items];
  }
  return ["object", cut(value.constructor?.name ?? "Object"), false];
}

function hex(value) {
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

function cut(value) {
  return String(value ?? "").slice(0, 400);
}
