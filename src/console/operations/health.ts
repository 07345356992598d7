/** `/readyz` is not an operation of the API: its parts are untyped. */
export const TONES = { up: 'ok', degraded: 'warn', down: 'bad' } as const satisfies Record<
  string,
  string
>

export interface Part {
  readonly status: keyof typeof TONES
  readonly reason?: string
  readonly [fact: string]: unknown
}

export function partsOf(parts: unknown): Readonly<Record<string, Part>> {
  return (parts ?? {}) as Readonly<Record<string, Part>>
}

export interface ChainHealth {
  readonly chainId: number
  readonly status: Part['status']
  readonly head: number | null
  readonly headAgeSeconds: number | null
  readonly reason: string | null
}

export function chainsOf({ chains }: Readonly<Record<string, Part>>): readonly ChainHealth[] {
  return Object.entries(partsOf(chains?.chains)).map(([id, of]) => ({
    chainId: Number(id),
    status: of.status,
    head: typeof of.head === 'number' ? of.head : null,
    headAgeSeconds: typeof of.head_age_seconds === 'number' ? of.head_age_seconds : null,
    reason: of.reason ?? null,
  }))
}

/** The reason why it is not up, and its figures. */
export function wordsOf(part: Part): string {
  const facts = Object.entries(part).flatMap(([name, value]) => {
    if (name === 'status' || name === 'reason' || value === null) return []
    if (typeof value === 'object' && !Array.isArray(value)) return []
    const list = Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value)
    return list === '' ? [] : [`${name.replaceAll('_', ' ')} ${list}`]
  })
  return [...(part.reason === undefined ? [] : [part.reason]), ...facts].join(' · ')
}

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.values(value).map(String).join(' ')
}
