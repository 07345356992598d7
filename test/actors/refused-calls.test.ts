import { beforeEach, describe, expect, test } from 'vitest'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { registerApproval } from '../../actors/sub-wallet/effects/approvals.js'
import type { ErrorCode } from '../../src/errors/catalogue.js'
import { FaultError, fault } from '../../src/errors/fault.js'
import { Refusal } from '../../src/quorum-protocol/refusal.js'
import { coSignerFault } from '../../src/service-custody/co-signer-fault.js'
import { policyOf } from '../policy/random-policies.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { WaitingWallet } from './waiting-wallet.js'
import { apiKey, KEY_ID, preparedSend, START_MS, wallet } from './wallet-fixtures.js'

let it: WaitingWallet

beforeEach(async () => {
  it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
  const rules = [{ name: 'ask', effect: 'require_approval', when: {} }]
  const policy = policyOf({ rules, default: 'allow' })
  await it.run({ type: 'register-key', key: apiKey({ dailyLimitMicros: null, policy }) })
  await it.run({ ...preparedSend(1, 100n), nowMs: it.nowMs })
  for (const _ of ['screened', 'approval-ready']) await it.answerOne()
})

/** Asks the identity provider, which answers with this, to take the call. */
async function told(error: unknown): Promise<void> {
  const at = it.effects.findIndex(({ type }) => type === 'register-approval')
  const [effect] = it.effects.splice(at, 1)
  if (effect?.type !== 'register-approval') throw new Error('nobody is told')
  const register = () => Promise.reject(coSignerFault(error))
  const answers: Command[] = []
  const ports = {
    approvals: { register },
    ...{ log: { warn() {} }, timers: new VirtualTimers(START_MS), reader: it.reader },
  }
  await registerApproval(
    ports as unknown as Parameters<typeof registerApproval>[0],
    effect,
    (command) => answers.push(command),
  )
  for (const command of answers) await it.run(command)
}

describe('a call that the identity provider does not take', () => {
  test.each(['KEY_PROOF_MISSING', 'UNKNOWN_KEY', 'NOT_GRANTED'] as const)(
    'stays ended with its key, and holds nothing: %s',
    async (code) => {
      await it.run({ type: 'revoke-key', keyId: KEY_ID, nowMs: it.nowMs })
      await told(new Refusal(code, 'its key has ended'))
      expect(it.record(1)).toMatchObject({ status: 'dropped', error: { code: 'INVALID_KEY' } })
      expect(it.approval(1), 'nobody said yes to it').toMatchObject({
        ...{ status: 'expired', decisions: [] },
      })
      expect(it.reserved).toBe(0n)
    },
  )

  test.each(['KEY_PROOF_MISSING', 'UNKNOWN_KEY', 'APPROVAL_EXPIRED'] as const)(
    'waits while its key lives here, of which the provider may have lost its memory: %s',
    async (code) => {
      await told(new Refusal(code, 'not known here'))
      expect(it.record(1)?.status).toBe('awaiting_approval')
    },
  )

  test.each(['COSIGNER_UNAVAILABLE', 'OVERLOADED'] as const satisfies readonly ErrorCode[])(
    'waits where it may yet: %s',
    async (code) => {
      await told(new FaultError(fault(code)))
      expect(it.record(1)?.status).toBe('awaiting_approval')
      await it.run({ type: 'approvals-rested' })
      await it.settle()
      expect(it.approval(1).toldAtMs).toBe(START_MS)
    },
  )

  test('waits to be declined by whoever declined it there', async () => {
    await told(new Refusal('APPROVAL_DECLINED', 'declined'))
    expect(it.record(1)?.status).toBe('awaiting_approval')
  })
})
