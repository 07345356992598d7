import { z } from 'zod'
import { apiKey, subWallet } from './console.js'
import { webhook } from './console-webhooks.js'
import { errorResponse } from './error-body.js'
import { type JsonSchema, simplify } from './json-schema.js'
import { transactionRecord } from './transaction.js'

/** The document's named schemas; shared ones are referred to by name, all others are inline. */

const SHARED: readonly (readonly [name: string, schema: z.ZodType])[] = [
  ['Error', errorResponse],
  ['Transaction', transactionRecord],
  ['SubWallet', subWallet],
  ['ApiKey', apiKey],
  ['Webhook', webhook],
]

export interface OutputSchemas {
  readonly components: Readonly<Record<string, JsonSchema>>
  /** The reference to one of the outputs. */
  readonly of: (schema: z.ZodType) => JsonSchema
}

interface NamedOutput {
  readonly name: string
  readonly output: z.ZodType
}

/** @param rows all rows whose outputs the document refers to; an output used twice has one name */
export function outputSchemas(rows: readonly NamedOutput[]): OutputSchemas {
  const registry = z.registry<{ id: string }>()
  const names = new Map<z.ZodType, string>(SHARED.map(([name, schema]) => [schema, name]))
  for (const { name, output } of rows) if (!names.has(output)) names.set(output, pascalCase(name))
  for (const [schema, id] of names) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { io: 'output', uri: referenceTo })
  const components = Object.entries(schemas).map(([name, schema]) => {
    const { $schema: _dialect, $id: _id, ...rest } = schema as JsonSchema
    return [name, simplify(rest)] as const
  })
  return {
    components: Object.fromEntries(components),
    of: (schema) => ({ $ref: referenceTo(names.get(schema) ?? 'Error') }),
  }
}

function referenceTo(name: string): string {
  return `#/components/schemas/${name}`
}

/** get_limits → GetLimitsResponse */
function pascalCase(name: string): string {
  return `${name.replace(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase())}Response`
}
