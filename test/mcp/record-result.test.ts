import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keepJson } from '../../src/api/json-text.js'
import { operations } from '../../src/api/operations.js'
import { TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness, type TestHandler } from './harness.js'
import { modern, postMessage, toolCall } from './message.js'
import { sampleOutput } from './sample-output.js'

const SELECTOR = '0x3593564c'
const CALLDATA = `${SELECTOR}${'ab'.repeat(2_000)}`
const ADDRESS = `0x${'a'.repeat(40)}`

const kindOf: Readonly<Record<string, string>> = {
  send_transaction: 'send',
  execute_swap: 'swap',
  defi_deposit: 'defi_deposit',
  defi_withdraw: 'defi_withdraw',
  gas_swap: 'gas_swap',
  get_transaction_status: 'swap',
}
const ARGUMENTS: Readonly<Record<string, object>> = {
  send_transaction: { chain_id: 8453, to: ADDRESS, data: CALLDATA },
  execute_swap: { quote_id: 'q' },
  defi_deposit: { chain_id: 8453, market_id: 'm', amount: '1' },
  defi_withdraw: { chain_id: 8453, market_id: 'm', shares: 'max' },
  gas_swap: { chain_id: 8453, amount_in: '1' },
  get_transaction_status: { tx_id: 'tx_1' },
}

const records = Object.fromEntries(
  operations
    .filter(({ name }) => kindOf[name] !== undefined)
    .map((row) => [
      row.name,
      keepJson({ ...sampleOutput(row, {}), kind: kindOf[row.name], data: CALLDATA }),
    ]),
)
/** Kept values, as of reads, and texts of which the value is made, as of writes. */
const handlers: Readonly<Record<string, TestHandler>> = Object.fromEntries(
  Object.entries(records).map(([name, record]) => [
    name,
    () =>
      name === 'get_transaction_status'
        ? { ok: true, value: record }
        : { ok: true, value: record, json: JSON.stringify(record) },
  ]),
)

let harness: McpHarness
beforeAll(async () => {
  harness = await startMcpHarness({ handlers })
})
afterAll(() => harness.server.close())

interface Result {
  readonly content: readonly { readonly text: string }[]
  readonly structuredContent: { readonly data: string }
}

describe.each(['handshake', 'newest'])('in the %s revision', (era) => {
  async function call(name: string): Promise<Result> {
    const message = toolCall(name, ARGUMENTS[name]) as { readonly params: object }
    const { body, headers } = era === 'newest' ? modern(message) : { body: message, headers: {} }
    const answer = await postMessage(harness.mcpUrl, body, headers)
    return answer.message?.result as unknown as Result
  }

  it.each(Object.keys(kindOf).filter((name) => name !== 'send_transaction'))(
    '%s shows the selector of a sponsored call, and no other byte of its calldata',
    async (name) => {
      for (const result of [await call(name), await call(name)]) {
        const text = result.content[0]?.text ?? ''
        expect(JSON.parse(text)).toEqual(result.structuredContent)
        expect(result.structuredContent).toEqual({ ...records[name], data: SELECTOR })
      }
    },
  )

  it('send_transaction shows the calldata that its caller gave', async () => {
    expect((await call('send_transaction')).structuredContent.data).toBe(CALLDATA)
  })
})

it('REST keeps the whole record', async () => {
  const answer = await fetch(`${harness.baseUrl}/api/tx/tx_1`, {
    headers: { 'x-api-key': TRADE_SECRET },
  })
  expect(((await answer.json()) as { readonly data: string }).data).toBe(CALLDATA)
})
