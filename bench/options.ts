import { parseArgs } from 'node:util'
import { FLAG, type Option, type Reading } from './option-kinds.js'
import { commandOf, PROGRAMS, type ProgramName } from './programs.js'
import { say } from './say.js'

/**
 * The arguments of a bench. Every bench answers `--help`, and refuses unknown or impossible
 * arguments before it starts anything.
 */
export type OptionSet = Readonly<Record<string, Option<unknown>>>

export interface BenchUsage<Options extends OptionSet> {
  readonly name: ProgramName
  /** How long it takes. */
  readonly takes: string
  /** Space needed in the directory for temporary files. */
  readonly disk: string
  /** Its file in `bench/results`; null if it measures nothing. */
  readonly results: string | null
  /** Linux if CPU and memory of other processes are read from /proc. */
  readonly runsOn: 'linux' | 'any'
  readonly options: Options
  /** Arguments besides the options, all of which are required. */
  readonly files?: readonly string[]
}

export type OptionValues<Options extends OptionSet> = {
  readonly [Name in keyof Options]: Options[Name] extends Option<infer Value> ? Value : never
}

/** One call of a bench. */
export interface BenchRun<Values = object> {
  /** As it is typed, such as `npm run bench -- write`. */
  readonly command: string
  readonly results: string | null
  readonly values: Values
  readonly files: readonly string[]
  /** What is written to standard output. */
  readonly output: 'tables' | 'json'
}

export type Call<Values> =
  | { readonly kind: 'run'; readonly run: BenchRun<Values> }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'refused'; readonly problem: string }

/** Exit code of a call with bad arguments, as in shells and getopt(3). */
const EXIT_USAGE = 2

/** Reads this process's arguments; ends the process if they ask for help or are refused. */
export function readOptions<Options extends OptionSet>(
  usage: BenchUsage<Options>,
): BenchRun<OptionValues<Options>> {
  const call = readCall(usage, process.argv.slice(2))
  const command = commandOf(usage.name)
  for (const name of Object.keys(usage.options)) {
    if (!isKeptByNpm(name)) continue
    say(`npm kept --${name} to itself, as it does with options before --: ${command} …`)
  }
  if (call.kind === 'run') {
    const { runsOn } = usage
    if (runsOn === 'any' || process.platform === runsOn) return call.run
    return refuse(`${command} reads CPU and memory from /proc, which ${process.platform} lacks`)
  }
  if (call.kind === 'refused') return refuse(`${call.problem}; ${command} --help`)
  console.log(call.text)
  process.exit(0)
}

/**
 * npm tells scripts which options it took for its own settings: from `--no-x` it makes an empty
 * `x`.
 */
function isKeptByNpm(name: string): boolean {
  const setting = `npm_config_${name.replace(/^no-/, '').replaceAll('-', '_')}`
  const said = process.env[setting]
  return (
    /^run(-script)?$/.test(process.env.npm_command ?? '') &&
    (name.startsWith('no-') ? said === '' : said !== undefined)
  )
}

/** Ends this process with a line that tells why nothing was started. */
export function refuse(problem: string): never {
  console.error(problem)
  process.exit(EXIT_USAGE)
}

export function readCall<Options extends OptionSet>(
  usage: BenchUsage<Options>,
  args: readonly string[],
): Call<OptionValues<Options>> {
  const known: OptionSet = { ...usage.options, json: JSON_OPTION, help: HELP_OPTION }
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { kind }]) => [name, { type: kind } as const]),
  )
  // Not strict, because its errors address programmers and it takes `-1` for an option.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const values = new Map(Object.entries(known).map(([name, it]) => [name, it.byDefault]))
  const files: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') files.push(token.value)
    if (token.kind !== 'option') continue
    const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined
    if (option === undefined || !token.rawName.startsWith('--')) {
      return refused(`there is no option ${token.rawName}`)
    }
    const reading = readOne(option, token.value)
    if (!reading.ok) return refused(`${token.rawName} ${reading.problem}`)
    values.set(token.name, reading.value)
  }
  if (values.get('help') === true) return { kind: 'help', text: usageText(usage, known) }
  const wanted = usage.files ?? []
  const extra = files[wanted.length]
  if (extra !== undefined) return refused(`there is no place for the argument ${extra}`)
  const missing = wanted[files.length]
  if (missing !== undefined) return refused(`the argument ${missing} is missing`)
  const { name, results } = usage
  const output = values.get('json') === true ? 'json' : 'tables'
  const own = Object.fromEntries(Object.keys(usage.options).map((name) => [name, values.get(name)]))
  const run = { command: commandOf(name), results, values: own, files, output } as const
  return { kind: 'run', run: run as unknown as BenchRun<OptionValues<Options>> }
}

const JSON_OPTION = { ...FLAG, meaning: 'print the results as JSON instead of tables' }
const HELP_OPTION = { ...FLAG, meaning: 'print this' }

function readOne(option: Option<unknown>, text: string | undefined): Reading<unknown> {
  if (option.kind === 'boolean') {
    return text === undefined ? { ok: true, value: true } : { ok: false, problem: 'takes no value' }
  }
  return text === undefined ? { ok: false, problem: 'needs a value' } : option.read(text)
}

function refused(problem: string): { readonly kind: 'refused'; readonly problem: string } {
  return { kind: 'refused', problem }
}

function usageText(usage: BenchUsage<OptionSet>, known: OptionSet): string {
  const rows = Object.entries(known).map(
    ([name, { hint, meaning }]) => [`--${name} ${hint}`.trimEnd(), meaning] as const,
  )
  const width = Math.max(...rows.map(([left]) => left.length))
  const facts = [
    ['measures', PROGRAMS[usage.name]],
    ['takes', usage.takes],
    ['disk', usage.disk],
    ['writes', usage.results === null ? 'nothing' : `bench/results/${usage.results}`],
  ] as const
  const files = (usage.files ?? []).map((name) => ` <${name}>`).join('')
  return [
    `${commandOf(usage.name)}${files} [options]`,
    '',
    ...facts.map(([name, text]) => `  ${name.padEnd(10)}${text}`),
    '',
    ...rows.map(([left, meaning]) => `  ${left.padEnd(width)}   ${meaning}`),
  ].join('\n')
}
