/** One thing that is wrong with a document, and where. */
export interface PolicyFault {
  /** `rules[2].when.to[0]`; empty for the document itself. */
  readonly path: string
  readonly message: string
}

/** A longer list of faults helps nobody. */
const FAULTS_MAX = 32

export type JsonObject = Readonly<Record<string, unknown>>

/** Collects what is wrong with a document. A reading that reported a fault is thrown away. */
export class Faults {
  readonly #found: PolicyFault[] = []

  get found(): readonly PolicyFault[] {
    return this.#found
  }

  /** @returns null, for readings to hand on */
  report(path: string, message: string): null {
    if (this.#found.length < FAULTS_MAX) this.#found.push({ path, message })
    return null
  }

  /** An object with these fields and no other. */
  object(value: unknown, path: string, fields: readonly string[]): JsonObject | null {
    if (!isObject(value)) return this.report(path, 'must be an object')
    for (const name of Object.keys(value)) {
      if (!fields.includes(name)) this.report(fieldPath(path, shown(name)), 'is not known')
    }
    return value
  }

  /** Each element by itself; those that cannot be read are left out, and reported. */
  list<T>(
    value: unknown,
    path: string,
    { min, max }: { readonly min: number; readonly max: number },
    read: (element: unknown, path: string) => T | null,
  ): T[] | null {
    if (!Array.isArray(value)) return this.report(path, 'must be a list')
    if (value.length < min) return this.report(path, `must have at least ${min}`)
    if (value.length > max) return this.report(path, `must have at most ${max}`)
    const elements: T[] = []
    value.forEach((element, at) => {
      const one = read(element, `${path}[${at}]`)
      if (one !== null) elements.push(one)
    })
    return elements
  }

  integer(value: unknown, path: string, min: number, max: number): number | null {
    const isFit = Number.isInteger(value) && Number(value) >= min && Number(value) <= max
    return isFit ? Number(value) : this.report(path, `must be a whole number, ${min} to ${max}`)
  }

  oneOf<T extends string>(value: unknown, path: string, options: readonly T[]): T | null {
    const found = options.find((option) => option === value)
    return found ?? this.report(path, `must be one of ${options.join(', ')}`)
  }
}

export function fieldPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** A stranger's field name, as a message may carry it. */
function shown(name: string): string {
  return name.slice(0, 64).replaceAll(/[^\w.-]/g, '?')
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
