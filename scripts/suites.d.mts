/** A program that npm does not provide; `scripts/run.mjs --test-with` installs it. */
type Package = 'chromium' | 'postgresql' | 'prometheus' | 'restate' | 'softhsm2' | 'systemd'

interface SuiteForm {
  /** One sentence. */
  readonly does: string
  /** Defaults: a variable of the caller's environment comes first. */
  readonly env?: Readonly<Record<string, string>>
  /** Parts of paths, as vitest takes them. */
  readonly files?: readonly string[]
  readonly args?: readonly string[]
}

export interface Suite extends SuiteForm {
  readonly name: string
  /** A rough measure on two cores. */
  readonly takes: 'seconds' | 'minutes' | 'tens of minutes' | 'hours'
  readonly needs?: readonly Package[]
  /** More packages, by the value of a variable of the caller's environment. */
  readonly needsBy?: Readonly<Record<string, Readonly<Record<string, Package>>>>
  /** A key of ON_REQUEST. A program sets it by itself. */
  readonly on?: string
  /** Runs in place of vitest, from the root. */
  readonly program?: string
  /** What `--short` runs: fields here replace those of the suite. */
  readonly short?: SuiteForm
}

export interface SuiteCommand {
  readonly env: Readonly<Record<string, string>>
  /** Relative to the root. */
  readonly script: string
  readonly args: readonly string[]
}

export const ON_REQUEST: Readonly<Record<string, string>>
export const SUITES: readonly Suite[]
export function commandOf(
  suite: Suite,
  form: 'whole' | 'short',
  environment: Readonly<Record<string, string | undefined>>,
): SuiteCommand
