import { encodeAbiParameters, encodeEventTopics, getAbiItem } from 'viem'
import { describe, expect, test } from 'vitest'
import { transactionView } from '../../src/api/transaction-view.js'
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import { EXECUTED_TOPIC, executionIn } from '../../src/domain/execution.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import { ATTEMPT, transaction } from '../actors/wallet-fixtures.js'

const ROUTER: Address = '0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984'
const USDC: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const WRAPPED: Address = '0x4200000000000000000000000000000000000006'
const EVENT = getAbiItem({ abi: agentRouter.abi, name: 'Executed' })

function log(emitter: Address, amountOut: bigint) {
  const [topic, ...indexed] = encodeEventTopics({
    abi: [EVENT],
    args: { digest: `0x${'11'.repeat(32)}`, account: USDC, target: WRAPPED },
  })
  const inputs = EVENT.inputs.filter((input) => !('indexed' in input && input.indexed))
  const data = encodeAbiParameters(inputs, [7n, USDC, 1_000n, 3n, WRAPPED, amountOut])
  return { address: emitter, topics: [topic, ...indexed] as Hex[], data }
}

const OTHER = { address: USDC, topics: [`0x${'22'.repeat(32)}`] as Hex[], data: '0x' as Hex }

function viewOf(logs: Parameters<typeof executionIn>[0], kind: 'swap' | 'send' = 'swap') {
  const executed = executionIn(logs)
  const mined: MinedIn = {
    ...{ txHash: ATTEMPT.txHash, blockNumber: 1, blockHash: '0x09', outcome: 'success' },
    feeWei: 1n,
    ...(executed === null ? {} : { executed }),
  }
  return transactionView(transaction(1, { kind, to: ROUTER, attempts: [ATTEMPT], mined }), null)
}

const NOTHING = {
  ...{ fee_token: null, fee_amount: null, token_in: null, amount_in: null },
  ...{ token_out: null, amount_out: null },
}

describe('the record of a sponsored call', () => {
  test('knows the event of the Router that is compiled', () => {
    expect(log(ROUTER, 5n).topics[0]).toBe(EXECUTED_TOPIC)
  })

  test('shows what the Router took and gave, as its event says', () => {
    expect(viewOf([OTHER, log(ROUTER, 5n), OTHER])).toMatchObject({
      ...{ fee_token: USDC, fee_amount: '3', token_in: USDC, amount_in: '1000' },
      ...{ token_out: WRAPPED, amount_out: '5' },
    })
  })

  test('believes no such event of another contract', () => {
    expect(viewOf([log(WRAPPED, 10n ** 30n), log(ROUTER, 5n)])).toMatchObject({ amount_out: '5' })
    expect(viewOf([log(WRAPPED, 10n ** 30n)])).toMatchObject(NOTHING)
  })

  test('is null in these fields where there is no event, or one cut short', () => {
    expect(viewOf([])).toMatchObject(NOTHING)
    const { data, ...whole } = log(ROUTER, 5n)
    expect(viewOf([{ ...whole, data: data.slice(0, -2) as Hex }])).toMatchObject(NOTHING)
  })

  test('of a send has none of them', () => {
    expect(viewOf([log(ROUTER, 5n)], 'send')).not.toHaveProperty('fee_token')
  })
})
