/** Who wants to see what was decided, as it is decided; the history of a seed does not depend on it. */
export type Watching = (
  kind: string,
  command: object,
  decision: { readonly events: readonly unknown[]; readonly effects: readonly unknown[] },
) => void

/** Long, and the same in each line. */
const LEFT_OUT = new Set(['attempts', 'calldata', 'call', 'proofKey', 'rawTransaction'])
const CHARS_MAX = 1_000

/**
 * Whole decisions on one transaction: the command, what happened, and what is to be done.
 * @param id of a transaction, or its end as histories name it
 */
export function aboutTransaction(id: string, print: (line: string) => void): Watching {
  const names = (value: unknown) => idsIn(value).some((found) => found.endsWith(id))
  return (kind, command, { events, effects }) => {
    const [happened, wanted] = [events.filter(names), effects.filter(names)]
    if (!names(command) && happened.length + wanted.length === 0) return
    print(`${kind} ${textOf(command)}`)
    for (const event of happened) print(`  ${textOf(event)}`)
    for (const effect of wanted) print(`  -> ${textOf(effect)}`)
  }
}

/** Its own, or that of what it carries. */
function idsIn(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { txId } = value as { readonly txId?: unknown }
  if (typeof txId === 'string') return [txId]
  return depth > 0 ? [] : Object.values(value).flatMap((carried) => idsIn(carried, 1))
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value, (name, it: unknown) => {
    if (LEFT_OUT.has(name)) return undefined
    return typeof it === 'bigint' ? String(it) : it
  })
  return text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)}…` : text
}
