import { expect, test } from 'vitest'
import { policyOf } from '../policy/random-policies.js'
import { WaitingWallet } from './waiting-wallet.js'
import { ATTEMPT, apiKey, txIdOf, wallet } from './wallet-fixtures.js'

/** As many as are judged again at once. */
const AT_ONCE = 32

test('one call more than run at once waits for another to end, and for no clock meanwhile', async () => {
  const it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
  const approvals = { needed: 1, expires_seconds: 86_400 }
  const rules = [{ name: 'ask', effect: 'require_approval', when: {}, approvals }]
  await it.run({
    type: 'register-key',
    key: apiKey({ policy: policyOf({ default: 'allow', rules }) }),
  })
  for (let n = 1; n <= AT_ONCE + 1; n++) {
    await it.send(n, 1n)
    await it.settle()
  }
  it.effects = []
  for (let n = 1; n <= AT_ONCE + 1; n++) await it.approve(n)
  const running = () =>
    [...it.state.waiting.byTx.values()].filter(({ phase }) => phase === 'running').length
  expect(running()).toBe(AT_ONCE)
  const wakes = () => it.effects.filter((effect) => effect.type === 'wake-approvals')
  expect(wakes().filter(({ atMs }) => atMs <= it.nowMs)).toEqual([])
  // A clock that is early changes nothing.
  const [atMs = it.nowMs] = it.state.waiting.wakesAtMs
  await it.run({ type: 'approvals-due', atMs, nowMs: it.nowMs })
  expect(wakes().filter((wake) => wake.atMs <= it.nowMs)).toEqual([])
  await it.settle()
  const said = { txId: txIdOf(1), nowMs: it.nowMs }
  await it.run({ type: 'signed', ...said, nonce: 0, signed: { ...ATTEMPT, signedAtMs: it.nowMs } })
  expect(it.state.waiting.byTx.has(txIdOf(1))).toBe(false)
  expect(it.state.waiting.byTx.get(txIdOf(AT_ONCE + 1))?.phase).toBe('running')
})
