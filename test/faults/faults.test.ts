import { setTimeout as delay } from 'node:timers/promises'
import { parseTransaction } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { AskResult } from '../../actors/runtime/actor.js'
import { type EncodedSendReply, encodeAnswer } from '../../actors/sub-wallet/send-reply.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { answerOfSend } from '../../src/operations/agent/send-transaction.js'
import type { Fault } from '../support/fault-proxy.js'
import { allFinal, audit, transactionsOf } from './auditor.js'
import type { FaultChain } from './chain.js'
import { accepted, type Harness, RECIPIENT, startHarness, type TestWallet } from './harness.js'

const BASE = 8453
const SEND = 'eth_sendRawTransaction'
const FINAL_MS = 120_000
const UNTIL_MS = 60_000
/**
 * A node that takes as long is given up: where one hangs, and where the machine keeps all waiting.
 */
const HUNG_MS = 2_500
const PATIENT_MS = 30_000
/** Transactions that a plain account has out at a time. */
const WINDOW = 16
const CONTRACT: Address = '0x000000000000000000000000000000000000c0De'
/** Runtime code: STOP; and PUSH0 PUSH0 REVERT. */
const STOPS = '0x00'
const REVERTS = '0x5f5ffd'

/** Each fault once, with real nodes: whatever happens on the way, every transaction ends once. */
describe('a transaction ends', () => {
  let harness: Harness
  let chain: FaultChain
  beforeAll(async () => {
    harness = await startHarness([BASE], { rpcTimeoutMs: PATIENT_MS })
    chain = harness.chain(BASE)
  })
  afterAll(() => harness?.stop())
  afterEach(async () => {
    for (const proxy of chain.proxies) proxy.clear()
    chain.startMining()
    await giveUpAfter(PATIENT_MS)
  })

  let givesUpAfterMs = PATIENT_MS
  async function giveUpAfter(ms: number): Promise<void> {
    if (ms === givesUpAfterMs) return
    givesUpAfterMs = ms
    chain.giveUpAfter(ms)
    await harness.restart()
    await until(() => harness.baseFeeWei(BASE) !== null)
  }

  function sendMany(wallet: TestWallet, count: number) {
    return Promise.all(Array.from({ length: count }, () => harness.send(wallet, BASE)))
  }

  function inject(fault: Fault, times: number, method: string = SEND): void {
    for (const proxy of chain.proxies) proxy.inject({ method, times, fault })
  }

  async function endsOnce(wallet: TestWallet, count: number, fromOutside = 0): Promise<void> {
    chain.startMining()
    await allFinal(harness, [wallet], FINAL_MS)
    const verdict = await audit(harness, wallet, new Map([[BASE, fromOutside]]))
    expect(verdict.wrong, harness.log.join('\n')).toEqual([])
    expect(verdict.confirmed).toBe(count)
  }

  const ERRORS: readonly (readonly [string, Fault, number])[] = [
    ['its answer is lost after a node took it', { kind: 'lose-answer' }, 3],
    ['a node hangs after it took it', { kind: 'hang', forward: true }, 1],
    ['a node hangs before it takes it', { kind: 'hang', forward: false }, 1],
    ['connections are cut', { kind: 'cut' }, 3],
    ['nodes answer 429', { kind: 'http', status: 429 }, 1],
    ['nodes answer 502', { kind: 'http', status: 502 }, 3],
    ['nodes answer 503', { kind: 'http', status: 503 }, 3],
    ['pools evict it', { kind: 'swallow' }, 6],
    ['"already known" is said of the unknown', error('already known'), 4],
    [
      '"nonce too low" is said of a free nonce',
      error('nonce too low: next nonce 9, tx nonce 0'),
      4,
    ],
    ['a replacement is called underpriced', error('replacement transaction underpriced'), 6],
    ['it is called underpriced', error('transaction underpriced: tip needed 1'), 6],
    [
      'the account is said to be delegated',
      error('in-flight transaction limit reached for delegated accounts'),
      8,
    ],
    ['a node speaks in tongues', error('ERR 4711 module not ready'), 4],
  ]
  for (const [title, fault, times] of ERRORS) {
    test(`once, when ${title}`, async () => {
      const wallet = await harness.createWallet()
      chain.startMining()
      if (fault.kind === 'hang') await giveUpAfter(HUNG_MS)
      inject(fault, times)
      const answers = await sendMany(wallet, 5)
      for (const answer of answers) accepted(answer)
      await endsOnce(wallet, 5)
    })
  }

  test('once, when all nodes but the sender have it and the sender lags', async () => {
    const wallet = await harness.createWallet()
    chain.startMining()
    for (const proxy of chain.proxies) {
      proxy.inject({
        method: 'eth_getTransactionCount',
        times: 12,
        fault: { kind: 'lag', blocks: 6 },
      })
      proxy.inject({ method: 'eth_getBlockByNumber', times: 6, fault: { kind: 'lag', blocks: 4 } })
    }
    for (let i = 0; i < 6; i++) {
      accepted(await harness.send(wallet, BASE))
      await chain.mine()
    }
    await endsOnce(wallet, 6)
  })

  test('once, with more waiting than a lane lets out, in the order of their nonces', async () => {
    const wallet = await harness.createWallet()
    await chain.stopMining()
    const sent = (await sendMany(wallet, 40)).map(accepted)
    // Also of those that are let out some may be answered before a busy node has them.
    const held = sent.filter(({ status }) => status === 'signed')
    expect(held.length).toBeGreaterThanOrEqual(40 - WINDOW)
    const inPool = async () => {
      const { pending } = (await chain.anvil.rpc('txpool_status', [])) as { pending: string }
      return Number(pending)
    }
    await expect.poll(inPool, { timeout: UNTIL_MS }).toBe(WINDOW)
    expect(new Set(sent.map(({ nonce }) => nonce)).size).toBe(40)
    await endsOnce(wallet, 40)
  })

  test('once, when the base fee rises tenfold under fifty of them', async () => {
    const wallet = await harness.createWallet()
    await chain.stopMining()
    const sent = (await sendMany(wallet, 50)).map(accepted)
    const highest = sent.reduce((most, { attempts }) => {
      const fee = attempts[0]?.maxFeePerGas ?? 0n
      return fee > most ? fee : most
    }, 0n)
    await chain.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(highest * 5n).toString(16)}`])
    await endsOnce(wallet, 50)
    const replaced = transactionsOf(harness, wallet).filter(({ attempts }) => attempts.length > 1)
    expect(replaced.length).toBeGreaterThan(0)
    for (const { attempts } of replaced) {
      attempts.slice(1).forEach((next, i) => {
        const before = attempts[i]
        if (before === undefined) throw new Error('no attempt before')
        expect(next.maxFeePerGas * 8n).toBeGreaterThanOrEqual(before.maxFeePerGas * 9n)
      })
    }
  })

  test('once, when a reorg three blocks deep takes it back', async () => {
    const wallet = await harness.createWallet()
    await chain.stopMining()
    for (const answer of await sendMany(wallet, 5)) accepted(answer)
    await chain.mine(2)
    await allFinal(harness, [wallet], FINAL_MS)
    await chain.reorg(3)
    const statuses = () => transactionsOf(harness, wallet).map(({ status }) => status)
    await until(
      () => statuses().every((status) => status === 'broadcast'),
      () => [...statuses(), ...harness.log].join('\n'),
    )
    await endsOnce(wallet, 5)
  })

  test('once, when its account is used from outside', async () => {
    const wallet = await harness.createWallet()
    accepted(await harness.send(wallet, BASE))
    chain.startMining()
    await allFinal(harness, [wallet], FINAL_MS)
    await chain.stopMining()
    for (let i = 0; i < 3; i++) await chain.landFromOutside(wallet.address, RECIPIENT)
    const sent = await sendMany(wallet, 10)
    for (const answer of sent) accepted(answer)
    await endsOnce(wallet, 11, 3)
  })

  test('once, when a pool drops what it took', async () => {
    const wallet = await harness.createWallet()
    await chain.stopMining()
    const sent = (await sendMany(wallet, 6)).map(accepted)
    for (const { attempts } of sent.slice(0, 3)) {
      await chain.anvil.rpc('anvil_dropTransaction', [attempts[0]?.txHash])
    }
    await endsOnce(wallet, 6)
  })

  test('once, when the process dies with some signed, some sent and some mined', async () => {
    const wallet = await harness.createWallet()
    await chain.stopMining()
    const sent = await sendMany(wallet, 20)
    for (const answer of sent) accepted(answer)
    await chain.mine()
    await harness.restart()
    await endsOnce(wallet, 20)
  })

  test('once, when a reorg takes it back while the process is down', async () => {
    const wallet = await harness.createWallet()
    await chain.stopMining()
    for (const answer of await sendMany(wallet, 4)) accepted(answer)
    await chain.mine()
    await until(() => transactionsOf(harness, wallet).every(({ mined }) => mined !== null))
    await harness.restart(() => chain.reorg(2))
    await endsOnce(wallet, 4)
  })

  test('once, when a reorg takes back what had ended, while the process is down', async () => {
    const wallet = await harness.createWallet()
    await chain.stopMining()
    for (const answer of await sendMany(wallet, 4)) accepted(answer)
    await chain.mine(2)
    await allFinal(harness, [wallet], FINAL_MS)
    await harness.restart(() => chain.reorg(3))
    await until(() => transactionsOf(harness, wallet).every(({ status }) => status === 'broadcast'))
    await endsOnce(wallet, 4)
  })

  test('once, when a reorg takes back what had ended before the process died', async () => {
    const wallet = await harness.createWallet()
    await chain.stopMining()
    for (const answer of await sendMany(wallet, 4)) accepted(answer)
    await chain.mine(2)
    await allFinal(harness, [wallet], FINAL_MS)
    await harness.restart()
    await chain.mine()
    await until(() => harness.baseFeeWei(BASE) !== null)
    await chain.reorg(4)
    await until(() => transactionsOf(harness, wallet).every(({ status }) => status === 'broadcast'))
    await endsOnce(wallet, 4)
  })

  test.for([
    { fee: 'the usual fee', baseFeeWei: 10n ** 9n },
    { fee: 'the highest fee', baseFeeWei: 6n * 10n ** 11n },
  ])(
    'dropped, when it may be out at $fee and is refused from then on; what is behind it goes on',
    async ({ baseFeeWei }) => {
      const wallet = await harness.createWallet()
      await chain.stopMining()
      await chain.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${baseFeeWei.toString(16)}`])
      await chain.mine()
      await until(() => harness.baseFeeWei(BASE) === baseFeeWei)
      const [preferred] = chain.proxies
      preferred.inject({ method: SEND, times: 1, fault: { kind: 'swallow' } })
      const value = 4_711n
      const call = { value, idempotency: { key: 'dropped', bodyHash: 'same' } }
      const { txId } = accepted(await harness.send(wallet, BASE, call))
      const fault = error('insufficient funds for gas * price + value: balance 1')
      const when = ([raw]: readonly unknown[]) => parseTransaction(raw as Hex).value === value
      for (const proxy of chain.proxies) proxy.inject({ method: SEND, fault, when })
      for (const answer of await sendMany(wallet, 3)) accepted(answer)
      chain.startMining()
      await allFinal(harness, [wallet], FINAL_MS)
      const verdict = await audit(harness, wallet)
      expect(verdict).toMatchObject({ confirmed: 3, dropped: 1, wrong: [] })
      expect(onTheWire(await harness.send(wallet, BASE, call))).toMatchObject({
        ok: false,
        fault: { code: 'CHAIN_REJECTED', details: { tx_id: txId } },
      })
    },
  )

  test('confirmed, when a gateway passed it on and refused it in any words', async () => {
    const wallet = await harness.createWallet()
    chain.startMining()
    for (const words of ['invalid sender', 'intrinsic gas too low', 'insufficient funds']) {
      for (const proxy of chain.proxies) {
        proxy.inject({ method: SEND, times: 1, fault: { ...error(words), forward: true } })
      }
      expect(onTheWire(await harness.send(wallet, BASE))).toMatchObject({ ok: true })
      for (const proxy of chain.proxies) proxy.clear()
    }
    await endsOnce(wallet, 3)
  })

  test('dropped, when every node refuses it, once its nonce is used by what cancels it', async () => {
    const wallet = await harness.createWallet()
    chain.startMining()
    const value = 4_712n
    const fault = error('insufficient funds for gas * price + value: balance 1')
    const when = ([raw]: readonly unknown[]) => parseTransaction(raw as Hex).value === value
    for (const proxy of chain.proxies) proxy.inject({ method: SEND, fault, when })
    const call = { value, idempotency: { key: 'refused', bodyHash: 'same' } }
    const send = async () => onTheWire(await harness.send(wallet, BASE, call))
    expect(await send()).toMatchObject({ ok: true })
    await allFinal(harness, [wallet], FINAL_MS)
    const [dropped] = transactionsOf(harness, wallet)
    const details = { tx_id: dropped?.txId }
    expect(await send()).toMatchObject({ ok: false, fault: { code: 'CHAIN_REJECTED', details } })
    const verdict = await audit(harness, wallet)
    expect(verdict).toMatchObject({ transactions: 1, dropped: 1, wrong: [] })
  })

  test('and what reverts keeps its gas and releases its value', async () => {
    const wallet = await harness.createWallet()
    await chain.stopMining()
    await chain.anvil.rpc('anvil_setCode', [CONTRACT, STOPS])
    accepted(await harness.send(wallet, BASE, { to: CONTRACT, value: 5_000n }))
    await chain.anvil.rpc('anvil_setCode', [CONTRACT, REVERTS])
    chain.startMining()
    await allFinal(harness, [wallet], FINAL_MS)
    const verdict = await audit(harness, wallet)
    expect(verdict).toMatchObject({ failed: 1, wrong: [] })
  })

  test('and a repeated call is refused while the first is open, when the key asks for it', async () => {
    const wallet = await harness.createWallet({ duplicateGuard: 'on' })
    chain.startMining()
    const first = accepted(await harness.send(wallet, BASE))
    const again = await harness.send(wallet, BASE)
    expect(again).toMatchObject({
      ok: false,
      fault: { code: 'DUPLICATE_SUSPECTED', details: { tx_id: first.txId } },
    })
    accepted(await harness.send(wallet, BASE, { value: 7n }))
    await endsOnce(wallet, 2)
  })
})

function error(message: string): Extract<Fault, { kind: 'error' }> {
  return { kind: 'error', code: -32000, message }
}

async function until(condition: () => boolean, instead = () => ''): Promise<void> {
  const deadlineMs = Date.now() + UNTIL_MS
  while (!condition()) {
    if (Date.now() > deadlineMs) throw new Error(`it did not come to that\n${instead()}`)
    await delay(25)
  }
}

/** As the service answers it. */
function onTheWire(answer: AskResult) {
  return answerOfSend(encodeAnswer(answer, () => null) as AskResult<EncodedSendReply>, {
    note: () => {},
  })
}
