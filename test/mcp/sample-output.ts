import { z } from 'zod'
import type { OperationRow } from '../../src/api/operation-row.js'

/** A value of an operation's output schema, the same for the same input. */

interface Node {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Node[]
  readonly minimum?: number
}

export function sampleOutput(
  row: OperationRow,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(row.output, { io: 'output' }) as Node
  return { ...(sample(schema) as object), echo: JSON.stringify(input) }
}

function sample(node: Node): unknown {
  if (node.const !== undefined) return node.const
  if (node.enum !== undefined) return node.enum[0]
  if (node.anyOf !== undefined) return sample(node.anyOf[0] ?? {})
  const type = Array.isArray(node.type) ? node.type[0] : node.type
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(node.properties ?? {}).map(([name, child]) => [name, sample(child)]),
      )
    case 'array':
      return [sample(node.items ?? {})]
    case 'integer':
    case 'number':
      return Math.max(1, node.minimum ?? 1)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return 'text "quoted" \u2028 é'
  }
}
