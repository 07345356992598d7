/** One error in a document, with its place. */
export interface PolicyFault {
  /** The place, for example `rules[2].when.to[0]`; empty for the document itself. */
  readonly path: string
  readonly message: string
}

/** The most errors that are listed; a longer list does not help. */
const FAULTS_MAX = 32

export type JsonObject = Readonly<Record<string, unknown>>

/** Collects the errors in a document. The result of a reading with errors is discarded. */
export class Faults {
  readonly #found: PolicyFault[] = []

  get found(): readonly PolicyFault[] {
    return this.#found
  }

  /** @returns null, so that readers can return it */
  report(path: string, message: string): null {
    if (this.#found.length < FAULTS_MAX) this.#found.push({ path, message })
    return null
  }

  /** Reads an object with these fields and no others. */
  object(value: unknown, path: string, fields: readonly string[]): JsonObject | null {
    if (!isObject(value)) return this.report(path, 'must be an object')
    for (const name of Object.keys(value)) {
      if (!fields.includes(name)) this.report(fieldPath(path, shown(name)), 'is not known')
    }
    return value
  }

  /** Reads each element by itself; those that cannot be read are left out, and reported. */
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

/** An unknown field's name in a form that is safe in a message. */
function shown(name: string): string {
  return name.slice(0, 64).replaceAll(/[^\w.-]/g, '?')
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
