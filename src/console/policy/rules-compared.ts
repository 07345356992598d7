import { isObject, type Json, type JsonObject } from './draft.js'

/** A difference between two policies, part by part. */
export interface Difference {
  readonly what: string
  /** Null if that side does not have it. */
  readonly before: string | null
  readonly after: string | null
}

const PARTS = ['per_transaction_usd', 'default', 'ceilings', 'breakers'] as const

export function differences(before: JsonObject | null, after: JsonObject | null): Difference[] {
  if (before === null || after === null) {
    if (before === after) return []
    return [{ what: 'the policy', before: textOf(before), after: textOf(after) }]
  }
  const found: Difference[] = []
  const [old, now] = [rulesOf(before), rulesOf(after)]
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    add(found, `rule ${name}`, old.get(name), now.get(name))
  }
  const order = [...old.keys()].filter((name) => now.has(name))
  const newOrder = [...now.keys()].filter((name) => old.has(name))
  if (order.join('\n') !== newOrder.join('\n')) {
    const what = 'order of the rules'
    found.push({ what, before: order.join(', '), after: newOrder.join(', ') })
  }
  for (const part of PARTS) add(found, part.replaceAll('_', ' '), before[part], after[part])
  return found
}

function rulesOf({ rules }: JsonObject): Map<string, Json> {
  const list = Array.isArray(rules) ? (rules as readonly Json[]) : []
  return new Map(
    list.map((rule, index) => [
      isObject(rule) && typeof rule.name === 'string' ? rule.name : `${index + 1}`,
      rule,
    ]),
  )
}

function add(
  found: Difference[],
  what: string,
  before: Json | undefined,
  after: Json | undefined,
): void {
  const [old, now] = [normal(before), normal(after)]
  if (textOf(old) !== textOf(now)) found.push({ what, before: textOf(old), after: textOf(now) })
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/**
 * An omitted field equals its default. The order of fields and of lists, which are sets, has no
 * meaning, nor has the case of an address.
 */
function normal(value: Json | undefined): Json {
  if (value === undefined) return null
  if (Array.isArray(value)) {
    const list = value as readonly Json[]
    return list.length === 0 ? null : list.map(normal).sort(byText)
  }
  if (typeof value === 'string' && ADDRESS.test(value)) return value.toLowerCase()
  if (!isObject(value)) return value
  const fields = Object.entries(value)
    .filter(([name, of]) => !isDefault(name, of))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([name, of]) => [name, normal(of)]))
}

function isDefault(name: string, value: Json): boolean {
  if (name === 'delay_seconds') return value === 0
  if (name === 'needed') return value === 1
  if (name === 'expires_seconds') return value === 3_600
  if (name === 'when' || name === 'approvals') {
    return isObject(value) && Object.entries(value).every(([of, one]) => isDefault(of, one))
  }
  return false
}

function byText(a: Json, b: Json): number {
  return String(textOf(a)) < String(textOf(b)) ? -1 : 1
}

function textOf(value: Json): string | null {
  return value === null ? null : typeof value === 'string' ? value : JSON.stringify(value)
}
