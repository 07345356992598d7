import type { JsonSchema, JsonValue } from './json-schema.js'

/** Example values by field name, so that each example looks realistic. */

const EXAMPLES: Readonly<Record<string, JsonValue>> = {
  chain_id: 8453,
  id: 8453,
  evm: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  from: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  to: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  address: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  spender: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  token_in: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  token_out: '0x4200000000000000000000000000000000000006',
  vault: '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  data: '0x',
  value: '1000000000000000',
  amount: '1500000',
  amount_in: '1500000',
  amount_out: '0.000482',
  amount_out_min: '0.00048',
  shares: '1450000',
  asset_amount: '1500000',
  balance: '1500000',
  decimals: 6,
  symbol: 'USDC',
  usd_value: '1.50',
  spend_usd: '3.12',
  gas_price_wei: '12000000',
  recommended_eth_for_5_txs: '0.00002',
  native_balance_wei: '50000000000000000',
  daily_limit_usd: '500.00',
  daily_used_usd: '3.12',
  monthly_limit_usd: '5000.00',
  monthly_used_usd: '3.12',
  reserved_usd: '0.00',
  policy: null,
  nonce: 7,
  error: null,
  replaced_hashes: [],
  tx_id: 'tx_01KAJ5Q4Z7R8M2V9C3T6W1X0YB',
  tx_hash: '0x2b1a6f0c4d3e5f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8',
  key_id: 'key_01KAJ5Q4Z7R8M2V9C3T6W1X0YB',
  sub_wallet_id: 'sw_01KAJ5Q4Z7R8M2V9C3T6W1X0YB',
  webhook_id: 'we_01KAJ5Q4Z7R8M2V9C3T6W1X0YB',
  event_id: 'evt_01KAJ5Q4Z7R8M2V9C3T6W1X0YB',
  user_id: 'user_01KAJ5Q4Z7R8M2V9C3T6W1X0YB',
  market_id: '8453:usdc-vault',
  quote_id: 'quote_01KAJ5Q4Z7R8M2V9C3T6W1X0YB',
  name: 'Research agent',
  description: 'Billing',
  email: 'ada@example.com',
  secret: 'shown-once',
  secret_prefix: 'sk_test_Zq3x',
  url: 'https://example.com/hooks/countersign',
  allowed_chains: [1, 8453],
  next_cursor: null,
  cursor: 'bmV4dA',
  search: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  hours: 24,
  limit: 25,
  slippage_bps: 50,
  rotated_from: null,
  parent_key_id: null,
  may_delegate: false,
  parents: [],
}
export const TIME = '2026-11-20T09:30:00.000Z'
const IS_TIME = /(?:_at|^timestamp)$/

/** An example of what `schema` describes; references are resolved in `components`. */
export function exampleOf(
  schema: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
): JsonValue {
  const node = resolve(schema, components)
  if (Array.isArray(node.examples)) return (node.examples as readonly JsonValue[])[0] ?? null
  const [branch] = (node.anyOf ?? node.oneOf ?? node.allOf ?? []) as readonly JsonSchema[]
  if (branch !== undefined) return exampleOf(branch, components)
  if (node.const !== undefined) return node.const as JsonValue
  if (Array.isArray(node.enum)) return (node.enum as readonly JsonValue[])[0] ?? null
  const type = Array.isArray(node.type) ? (node.type as readonly JsonValue[])[0] : node.type
  switch (type) {
    case 'object':
      return objectExample(node, components)
    case 'array':
      return [exampleOf((node.items ?? {}) as JsonSchema, components)]
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'string':
      return 'text'
    default:
      return null
  }
}

function objectExample(
  node: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
): JsonValue {
  const properties = (node.properties ?? {}) as Readonly<Record<string, JsonSchema>>
  const out: { [key: string]: JsonValue } = {}
  for (const [name, child] of Object.entries(properties)) {
    out[name] = fieldExample(name, resolve(child, components), components)
  }
  return out
}

function fieldExample(
  name: string,
  node: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
): JsonValue {
  const known = EXAMPLES[name]
  if (known !== undefined && fits(known, node)) return known
  return IS_TIME.test(name) ? TIME : exampleOf(node, components)
}

/** A name may mean different things: `error` is a record in one place and a code in another. */
function fits(value: JsonValue, node: JsonSchema): boolean {
  if (node.enum !== undefined || node.const !== undefined) return false
  const branches = (node.anyOf ?? [node]) as readonly JsonSchema[]
  const actual = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return branches.some(({ type, enum: options }) => {
    const types: readonly JsonValue[] = Array.isArray(type) ? type : [type ?? actual]
    return (
      options === undefined &&
      (types.includes(actual) || (actual === 'number' && types.includes('integer')))
    )
  })
}

function resolve(schema: JsonSchema, components: Readonly<Record<string, JsonSchema>>): JsonSchema {
  if (typeof schema.$ref !== 'string') return schema
  const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
  return components[name] ?? {}
}
