import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/api/operations.js'
import type { Io } from '../../src/cli/io.js'
import { runProgram } from '../../src/cli/program.js'
import { type Harness, startHarness, TRADE_SECRET } from '../http/harness.js'
import { sampleOutput } from '../mcp/sample-output.js'

/** Chains and tokens are given by name, amounts of a transfer in units of the token. */

const TO = '0x00000000000000000000000000000000000000AA'
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

let harness: Harness
const called: { readonly name: string; readonly input: unknown }[] = []

beforeAll(async () => {
  const agent = Object.fromEntries(
    operations.map((row) => [
      row.name,
      (_context: unknown, input: Readonly<Record<string, unknown>>) => {
        called.push({ name: row.name, input })
        return { ok: true as const, value: { ...sampleOutput(row, input), ...known(row.name) } }
      },
    ]),
  )
  harness = await startHarness({ agent })
})
afterAll(() => harness.server.close())

function known(name: string): object {
  if (name === 'get_supported_chains') return { chains: [] }
  if (name === 'get_native_balance') return { decimals: 18 }
  if (name !== 'get_token_balances') return {}
  const tokens = [{ token: USDC, symbol: 'USDC', decimals: 6, balance: '0', usd_value: null }]
  return { chain_id: 8453, tokens }
}

async function run(...args: readonly string[]) {
  called.length = 0
  let err = ''
  const io: Io = {
    env: { COUNTERSIGN_URL: harness.baseUrl, COUNTERSIGN_API_KEY: TRADE_SECRET },
    out: () => undefined,
    err: (text) => {
      err += text
    },
    isInteractive: false,
  }
  const code = await runProgram(io, args)
  process.exitCode = 0
  return { code, err, last: called.at(-1) }
}

describe('countersign send --token', () => {
  it('sends the exact amount of the token to the recipient', async () => {
    const { code, last } = await run(
      ...['send', '--token', 'usdc', '--amount', '5', '--chain', 'base', '--to', TO],
    )
    expect(code).toBe(0)
    const words = [TO.slice(2).toLowerCase(), (5_000_000).toString(16)]
    const data = `0xa9059cbb${words.map((word) => word.padStart(64, '0')).join('')}`
    expect(last).toEqual({
      name: 'send_transaction',
      input: { chain_id: 8453, to: USDC, data, value: '0' },
    })
  })

  it('sends the native currency in its units', async () => {
    const { last } = await run(
      ...['send', '--token', 'native', '--amount', '0.5', '--chain', 'base', '--to', TO],
    )
    expect(last?.input).toMatchObject({ to: TO, value: '500000000000000000' })
  })

  it.each([
    ['an amount without a token', ['--amount', '5'], /needs both --token and --amount/],
    ['a token without an amount', ['--token', 'USDC'], /needs both --token and --amount/],
    ['calldata beside a token', ['--token', 'USDC', '--amount', '5', '--data', '0x'], /cannot be/],
    ['a value beside a token', ['--token', 'USDC', '--amount', '5', '--value', '1'], /cannot be/],
    ['an unknown token', ['--token', 'USDX', '--amount', '5'], /no token USDX/],
    ['a fraction below the smallest unit', ['--token', 'USDC', '--amount', '0.0000001'], /6 dec/],
  ])('refuses %s and sends nothing', async (_what, args, message) => {
    const { code, err } = await run('send', '--chain', 'base', '--to', TO, ...args)
    expect(code).toBe(2)
    expect(err).toMatch(message)
    expect(called.map(({ name }) => name)).not.toContain('send_transaction')
  })
})

describe('names', () => {
  it.each([
    ['balance', '--chain', 'base', '--token', 'USDC'],
    ['balance', '--chain', '8453', '--token', USDC],
  ])('countersign %s %s %s %s %s asks for the same token', async (...args) => {
    const { last } = await run(...args)
    expect(last).toEqual({ name: 'get_balance', input: { chain_id: 8453, token: USDC } })
  })

  it('a chain that no name fits is refused with the names there are', async () => {
    const { code, err } = await run('balance', '--chain', 'solana', '--token', 'USDC')
    expect(code).toBe(2)
    expect(err).toMatch(/No chain is named solana\. The chains are: Ethereum/)
    expect(called).toEqual([])
  })
})
