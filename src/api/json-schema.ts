import { z } from 'zod'

/**
 * Wire schemas as JSON Schema 2020-12, for MCP tools and the OpenAPI document. Keywords without
 * effect are left out, because agents pay for every byte of a tool list.
 */

export type JsonSchema = { [key: string]: JsonValue }
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { [key: string]: JsonValue }

/** @param io `input` for what callers send, `output` for what they receive */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...root } = z.toJSONSchema(schema, { io }) as JsonSchema
  return simplify(root)
}

/** Removes keywords without effect. */
export function simplify(schema: JsonSchema): JsonSchema {
  return compactObject(schema)
}

function compact(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(compact)
  if (typeof value === 'object' && value !== null) return compactObject(value as JsonSchema)
  return value
}

function compactObject(node: JsonSchema): JsonSchema {
  const out: JsonSchema = {}
  for (const [key, value] of Object.entries(node)) {
    if (!isVacuous(key, value)) out[key] = compact(value)
  }
  return mergeNullable(out)
}

/** Bounds of the safe integers, and permission for unknown fields, are the defaults. */
function isVacuous(key: string, value: JsonValue): boolean {
  if (key === 'additionalProperties') {
    return typeof value === 'object' && value !== null && Object.keys(value).length === 0
  }
  return (
    (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
    (key === 'minimum' && value === Number.MIN_SAFE_INTEGER)
  )
}

/** Shortens `anyOf [T, null]` of a plain type to `type [T, null]`. */
function mergeNullable(node: JsonSchema): JsonSchema {
  const branches = node.anyOf
  if (!Array.isArray(branches) || branches.length !== 2) return node
  const [first, second] = branches as readonly JsonSchema[]
  if (first === undefined || second?.type !== 'null' || typeof first.type !== 'string') return node
  if (Object.keys(second).length !== 1 || first.enum !== undefined) return node
  const { anyOf: _branches, ...rest } = node
  return { ...first, ...rest, type: [first.type, 'null'] }
}
