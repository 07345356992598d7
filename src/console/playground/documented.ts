/** The parts of /openapi.json about an agent's operations that a form needs. */
export interface DocumentedOperation {
  readonly name: string
  /** Null if it is not a tool. */
  readonly mcpTool: string | null
  readonly title: string
  readonly description: string
  readonly method: string
  /** The path, with `{name}` for parameters. */
  readonly path: string
  readonly fields: readonly DocumentedField[]
  /** Takes an idempotency key. */
  readonly movesValue: boolean
  /** Faults that may be injected in a test environment; may be empty. */
  readonly faults: readonly string[]
}

export interface DocumentedField {
  readonly name: string
  readonly place: 'path' | 'query' | 'body'
  readonly type: 'text' | 'integer' | 'number' | 'boolean' | 'json'
  readonly isRequired: boolean
  readonly description: string
  readonly pattern: string | null
  readonly choices: readonly string[] | null
  /** As the form shows it. */
  readonly example: string
}

interface Schema {
  readonly type?: string
  readonly description?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
  readonly example?: unknown
}

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        { readonly schema: Schema; readonly example?: Readonly<Record<string, unknown>> }
      >
    >
  }
  readonly operationId?: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly 'x-mcp-tool'?: string
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const IDEMPOTENCY_HEADER = 'Idempotency-Key'
const FAULT_HEADER = 'Countersign-Fault'

/** Operations that need only an API key. */
export function documentedOperations({ paths }: OpenApiDocument): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const isAgents = operation.security?.some((by) => Object.keys(by).join() === 'apiKey')
      return isAgents === true ? [documented(method.toUpperCase(), path, operation)] : []
    }),
  )
}

function documented(method: string, path: string, operation: Operation): DocumentedOperation {
  const { summary, description = '', parameters = [], requestBody } = operation
  const name = operation.operationId ?? `${method} ${path}`
  const body = requestBody?.content['application/json']
  const required = body?.schema.required ?? []
  return {
    ...{ name, method, path, description },
    title: summary ?? name,
    mcpTool: operation['x-mcp-tool'] ?? null,
    movesValue: parameters.some((one) => one.name === IDEMPOTENCY_HEADER),
    faults: parameters.find((one) => one.name === FAULT_HEADER)?.schema?.enum?.map(String) ?? [],
    fields: [
      ...parameters.flatMap((one) => {
        if (one.in !== 'path' && one.in !== 'query') return []
        const { schema = {}, example } = one
        const of = { ...schema, description: one.description ?? schema.description ?? '' }
        return [fieldOf(one.name, one.in, of, one.required === true, example)]
      }),
      ...Object.entries(body?.schema.properties ?? {}).map(([field, schema]) =>
        fieldOf(field, 'body', schema, required.includes(field), body?.example?.[field]),
      ),
    ],
  }
}

function fieldOf(
  name: string,
  place: DocumentedField['place'],
  schema: Schema,
  isRequired: boolean,
  example: unknown,
): DocumentedField {
  const type = typeOf(schema)
  return {
    ...{ name, place, type, isRequired },
    description: schema.description ?? '',
    pattern: type === 'text' ? (schema.pattern ?? null) : null,
    choices: schema.enum?.map(String) ?? (type === 'boolean' ? ['true', 'false'] : null),
    example: typeof example === 'object' ? JSON.stringify(example) : String(example ?? ''),
  }
}

/** The type that all choices share. */
function typeOf({ type, anyOf = [] }: Schema): DocumentedField['type'] {
  if (type !== undefined) return TYPES[type] ?? 'json'
  const [first = 'json', ...others] = new Set(anyOf.map(typeOf))
  return others.length === 0 ? first : 'json'
}

const TYPES: Readonly<Record<string, DocumentedField['type']>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
}

export type Input = Readonly<Record<string, unknown>>

/** The input that a form describes; an empty field is omitted. The service validates it. */
export function inputOf(
  fields: readonly DocumentedField[],
  typed: Readonly<Record<string, string>>,
): Input {
  return Object.fromEntries(
    fields.flatMap(({ name, type }) => {
      const text = (typed[name] ?? '').trim()
      return text === '' ? [] : [[name, typedValue(type, text)]]
    }),
  )
}

/** The first number in a JSON text that JavaScript would change; null if all are exact. */
export function inexactNumber(text: string): string | null {
  const numbers = text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d[\d.eE+-]*/g) ?? []
  return numbers.find((one) => !isHeldExactly(one)) ?? null
}

/** Every decimal with up to fifteen digits is exact, however it is written. */
function isHeldExactly(text: string): boolean {
  const digits = text
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '')
  const number = Number(text)
  if (!Number.isFinite(number)) return false
  return digits.length <= 15 || String(number) === text
}

function typedValue(type: DocumentedField['type'], text: string): unknown {
  if (type === 'text') return text
  if (type === 'integer' || type === 'number') {
    const number = Number(text)
    // A number that is not exact is sent as text instead of another number.
    return Number.isFinite(number) && String(number) === text ? number : text
  }
  if (inexactNumber(text) !== null) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
