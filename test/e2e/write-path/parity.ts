import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { rpc } from '../../../scripts/dev/chains/json-rpc.js'
import { devHome } from '../../../scripts/dev/home/layout.js'
import { operations } from '../../../src/api/operations.js'
import { readChainsFile } from '../../../src/config/chains.js'
import { TOOL_ORDER, toolRows } from '../../../src/mcp/tools.js'
import { give, newWallet, type SponsoredWallet } from '../../defi/sponsored-wallet.js'
import type { HttpClient } from '../../support/http-client.js'
import { chainView } from '../chain.js'
import { finalOf, type Stack } from '../stack.js'

const BASE = 8453
const SOMEBODY = '0x000000000000000000000000000000000000dEaD'
/** Made again for each answer, so that no two answers share them. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['request_id', 'quote_id', 'expires_at'])
/** What a write sets off goes on between two reads: they are compared where nothing changed. */
const READS_MAX = 20

type ToolRow = (typeof operations)[number]
type Input = Readonly<Record<string, unknown>>

/** The same inputs through REST and MCP on the running service, for each of the 17 tools. */
export function describeParity(stack: () => Stack): void {
  describe('REST and MCP', () => {
    const rows = new Map<string, ToolRow>(toolRows(operations).map((row) => [row.name, row]))
    let wallet: SponsoredWallet
    let inputs: Readonly<Record<string, readonly Input[]>>

    beforeAll(async () => {
      wallet = await newWallet(stack())
      await give(stack(), BASE, wallet.address, '500', 'USDC')
      await give(stack(), BASE, wallet.address, '1', 'native')
      inputs = await inputsOf(stack(), wallet.key.api)
    })

    test('are asked about every tool', () => {
      expect([...rows.keys()]).toEqual([...TOOL_ORDER])
      expect(Object.keys(inputs).sort()).toEqual([...TOOL_ORDER].sort())
    })

    test.each(TOOL_ORDER)('answer %s alike, whether it works or not', async (name) => {
      const row = rows.get(name)
      if (row === undefined) throw new Error(`no tool ${name}`)
      const { api } = wallet.key
      const failed: boolean[] = []
      for (const input of inputs[name] ?? []) {
        const said = row.movesValue
          ? expectSameWrite(api, row, input)
          : betweenBlocks(stack(), () => expectSameRead(api, row, input))
        failed.push((await said).failed)
      }
      expect(failed[0]).toBe(false)
      if (failed.length > 1) expect(failed.at(-1)).toBe(true)
    })
  })
}

/**
 * Yields and fees change with each block, and on a busy machine one comes with each answer. A tick
 * that had begun may mine one more.
 */
async function betweenBlocks<T>({ service }: Stack, work: () => Promise<T>): Promise<T> {
  const { chainsFile } = devHome({ COUNTERSIGN_HOME: service.home })
  const urls = readChainsFile(chainsFile).chains.flatMap(({ rpc_urls }) => rpc_urls.slice(0, 1))
  const automine = (on: boolean) =>
    Promise.all(urls.map((url) => rpc(url, 'evm_setAutomine', [on])))
  await automine(false)
  try {
    return await work()
  } finally {
    await automine(true)
  }
}

/** Every repetition has the first one's key: the same payment, so the same answer. */
async function expectSameWrite(api: HttpClient, row: ToolRow, input: Input): Promise<Said> {
  const key = randomUUID()
  const said = await expectSameWhileStill(
    () => viaRest(api, row, input, key),
    () => viaMcp(api, row, { ...input, idempotency_key: key }),
    input,
  )
  const txId = (said.body as { tx_id?: string }).tx_id
  if (txId !== undefined) await finalOf(api, txId)
  return said
}

function expectSameRead(api: HttpClient, row: ToolRow, input: Input): Promise<Said> {
  const rest = () => viaRest(api, row, input)
  return expectSameWhileStill(rest, () => viaMcp(api, row, input), input)
}

/** Compares in a moment when nothing changed between two answers over REST. */
async function expectSameWhileStill(
  viaOne: () => Promise<Said>,
  viaOther: () => Promise<Said>,
  input: Input,
): Promise<Said> {
  let before = await viaOne()
  for (let read = 1; ; read++) {
    const other = await viaOther()
    const after = await viaOne()
    const still = JSON.stringify(before) === JSON.stringify(after)
    if (still || read === READS_MAX) {
      expect(other, JSON.stringify(input)).toEqual(after)
      return after
    }
    before = after
  }
}

interface Said {
  readonly failed: boolean
  readonly body: unknown
}

async function viaRest(api: HttpClient, row: ToolRow, input: Input, key?: string): Promise<Said> {
  const rest = { ...input }
  const path = row.path.replace(/:(\w+)/g, (_match, name: string) => {
    const value = rest[name]
    delete rest[name]
    return String(value)
  })
  if (row.method === 'GET') {
    const query = new URLSearchParams(
      Object.entries(rest).map(([name, value]) => [name, String(value)]),
    )
    const { status, text } = await api.get(`${path}?${query}`)
    return { failed: status >= 400, body: asMcpShows(shared(JSON.parse(text))) }
  }
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  const { status, text } = await api.post(path, rest, headers)
  return { failed: status >= 400, body: asMcpShows(shared(JSON.parse(text))) }
}

async function viaMcp(api: HttpClient, row: ToolRow, args: Input): Promise<Said> {
  const call = { method: 'tools/call', params: { name: row.name, arguments: args } }
  const { text } = await api.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, ...call },
    { accept: 'application/json, text/event-stream' },
  )
  const { result } = JSON.parse(text.slice(text.indexOf('{'))) as {
    result: { isError?: boolean; content: { text: string }[] }
  }
  const body: unknown = JSON.parse(result.content[0]?.text ?? 'null')
  return { failed: result.isError === true, body: shared(body) }
}

/** MCP cuts the calldata of a sponsored call to its selector: an agent pays for each of its tokens. */
function asMcpShows(body: unknown): unknown {
  const { kind, data } = (body ?? {}) as { readonly kind?: unknown; readonly data?: unknown }
  if (typeof kind !== 'string' || kind === 'send' || typeof data !== 'string') return body
  return { ...(body as object), data: data.slice(0, SELECTOR_CHARS) }
}

/** `0x` and four bytes. */
const SELECTOR_CHARS = 10

function shared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shared)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !OWN_FIELDS.has(name))
      .map(([name, inner]) => [name, shared(inner)]),
  )
}

/** One that works first, one that is refused last. */
async function inputsOf(
  stack: Stack,
  api: HttpClient,
): Promise<Readonly<Record<string, readonly Input[]>>> {
  const { usdc } = chainView(stack.service.dev(), BASE)
  const chains = (await api.get('/api/wallet/chains')).json.chains as {
    id: number
    has_router: boolean
  }[]
  const routerless = chains.find(({ has_router: has }) => !has)?.id
  if (routerless === undefined) throw new Error('every chain has a Router')
  const markets = (await api.get(`/api/defi/markets?chain_id=${BASE}`)).json.markets as {
    market_id: string
    asset_symbol: string
  }[]
  const market = markets.find(({ asset_symbol: symbol }) => symbol === 'USDC')?.market_id
  const native = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
  const swap = { chain_id: BASE, token_in: usdc, token_out: native, amount_in: '5000000' }
  const unknownChain = { chain_id: 999 }
  const send = { chain_id: BASE, to: SOMEBODY, value: '1' }
  const sent = await api.post('/api/tx/send', send)
  await finalOf(api, sent.json.tx_id)
  const swaps = [
    { ...swap, chain_id: routerless },
    { ...swap, amount_in: '0' },
    { ...swap, token_out: SOMEBODY },
    unknownChain,
  ]
  const amount = { chain_id: BASE, market_id: market, amount: '3000000' }
  return {
    get_wallet_address: [{}],
    get_balance: [
      { chain_id: BASE, token: usdc },
      { chain_id: BASE, token: SOMEBODY },
      { chain_id: BASE, token: '0x' },
    ],
    get_native_balance: [{ chain_id: BASE }, unknownChain],
    get_token_balances: [{ chain_id: BASE }, unknownChain],
    get_limits: [{}],
    send_transaction: [
      send,
      { ...send, value: '9'.repeat(30) },
      { ...send, data: '0xa9059cbb00' },
      { ...send, to: usdc, value: '0', data: '0xdeadbeef' },
      unknownChain,
    ],
    simulate_transaction: [send, { ...send, to: usdc, data: '0xdeadbeef' }, unknownChain],
    get_swap_quote: [swap, ...swaps],
    execute_swap: [swap, ...swaps, { quote_id: 'quote_unknown' }],
    defi_deposit: [
      amount,
      { ...amount, market_id: 'nowhere' },
      { ...amount, chain_id: routerless },
      { ...amount, amount: '9'.repeat(20) },
    ],
    defi_withdraw: [
      { chain_id: BASE, market_id: market, shares: 'max' },
      { chain_id: BASE, market_id: market, shares: '9'.repeat(30) },
      { chain_id: routerless, market_id: market, shares: 'max' },
    ],
    get_defi_markets: [{ chain_id: BASE }, unknownChain],
    get_positions: [{ chain_id: BASE }, unknownChain],
    gas_swap: [
      { chain_id: BASE, amount_in: '2000000' },
      { chain_id: 1, amount_in: '2000000' },
      { chain_id: routerless, amount_in: '2000000' },
    ],
    gas_estimate: [{ chain_id: BASE }, unknownChain],
    get_transaction_status: [{ tx_id: sent.json.tx_id }, { tx_id: 'tx_unknown' }],
    get_supported_chains: [{}],
  }
}
