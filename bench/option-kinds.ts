/** One option of a bench: how its text is read, and its default. */
export interface Option<Value> {
  /** As `parseArgs` of node:util names them; a `boolean` has no text. */
  readonly kind: 'string' | 'boolean'
  /** Stands for its value in the usage text; empty for a flag. */
  readonly hint: string
  /** Includes its bounds and default. */
  readonly meaning: string
  readonly byDefault: Value
  read(text: string): Reading<Value>
}

export type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  /** Follows the option's name in a message. */
  | { readonly ok: false; readonly problem: string }

interface Bounds {
  /** Fractions are for durations and shares. */
  readonly steps: 'whole' | 'any'
  readonly min: number
  readonly max: number
}

export const FLAG = {
  kind: 'boolean',
  hint: '',
  byDefault: false,
  read: () => ({ ok: true, value: true }),
} as const satisfies Omit<Option<boolean>, 'meaning'>

export function flag(meaning: string): Option<boolean> {
  return { ...FLAG, meaning }
}

/** One number; null by default if the value depends on something else. */
export function number<Default extends number | null>(
  meaning: string,
  bounds: Bounds & { readonly byDefault: Default },
): Option<number | Default> {
  const { byDefault } = bounds
  const usual = byDefault === null ? '' : ` (default ${plain(byDefault)})`
  return {
    kind: 'string',
    hint: 'N',
    meaning: `${meaning}, ${rangeText(bounds)}${usual}`,
    byDefault,
    read: (text) => readNumber(text, bounds),
  }
}

/** Several numbers, separated by commas. */
export function numbers(
  meaning: string,
  options: Bounds & {
    readonly byDefault: readonly number[]
    readonly countMin: number
    readonly countMax: number
  },
): Option<readonly number[]> {
  const { byDefault, countMin, countMax } = options
  const howMany = countMin === countMax ? `${countMin}` : `${countMin} to ${countMax}`
  const usual = byDefault.length === 0 ? 'none' : byDefault.map(plain).join(',')
  return {
    kind: 'string',
    hint: 'N,N',
    meaning: `${meaning}, ${rangeText(options)} (default ${usual})`,
    byDefault,
    read(text) {
      const parts = text.split(',')
      if (parts.length < countMin || parts.length > countMax) {
        return { ok: false, problem: `takes ${howMany} numbers with commas between` }
      }
      const values: number[] = []
      for (const part of parts) {
        const reading = readNumber(part, options)
        if (!reading.ok) return reading
        values.push(reading.value)
      }
      return { ok: true, value: values }
    },
  }
}

/** One of a few words; the first by default. */
export function word<const Words extends readonly [string, ...string[]]>(
  meaning: string,
  of: Words,
): Option<Words[number]> {
  return {
    kind: 'string',
    hint: 'NAME',
    meaning: `${meaning}, ${of.join(' or ')} (default ${of[0]})`,
    byDefault: of[0],
    read(text) {
      const chosen = of.find((it) => it === text)
      return chosen === undefined
        ? { ok: false, problem: `knows no "${text}", only ${of.join(', ')}` }
        : { ok: true, value: chosen }
    },
  }
}

/** Some of a few words, separated by commas. */
export function words<Word extends string>(
  meaning: string,
  of: readonly Word[],
): Option<readonly Word[]> {
  return {
    kind: 'string',
    hint: 'NAME,NAME',
    meaning: `${meaning} (default ${of.join(',')})`,
    byDefault: of,
    read(text) {
      const chosen: Word[] = []
      for (const part of text.split(',')) {
        const word = of.find((it) => it === part)
        if (word === undefined) {
          return { ok: false, problem: `knows no "${part}", only ${of.join(', ')}` }
        }
        chosen.push(word)
      }
      return { ok: true, value: chosen }
    },
  }
}

const WHOLE = /^\d{1,15}$/
const DECIMAL = /^\d{1,15}(\.\d{1,6})?$/

function readNumber(text: string, bounds: Bounds): Reading<number> {
  const { steps, min, max } = bounds
  const value = (steps === 'whole' ? WHOLE : DECIMAL).test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max
    ? { ok: true, value }
    : { ok: false, problem: `must be ${rangeText(bounds)}, not "${text}"` }
}

function rangeText({ steps, min, max }: Bounds): string {
  return `${steps === 'whole' ? 'whole, ' : ''}${plain(min)} to ${plain(max)}`
}

/** As it is typed, without separators. */
function plain(value: number): string {
  return String(value)
}
