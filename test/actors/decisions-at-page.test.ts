import { beforeEach, describe, expect, test } from 'vitest'
import { followDecisions } from '../../actors/custody/decisions.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { approvalIdOf } from '../../src/domain/approval.js'
import type { ApprovalDecisions } from '../../src/service-custody/approval-messages.js'
import { policyOf } from '../policy/random-policies.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { ALICE, quoteOf, WaitingWallet } from './waiting-wallet.js'
import { apiKey, START_MS, txIdOf, USER_ID, WALLET_ID, wallet } from './wallet-fixtures.js'

type Decided = ApprovalDecisions['decisions'][number]

/** A look, and what its decisions lead to. */
const POLL_MS = 2_000

let it: WaitingWallet
let page: Page

/** What people decided there, and the service that follows it. */
class Page {
  readonly #decided: Decided[] = []
  readonly #timers = new VirtualTimers(START_MS)
  #handled: Promise<unknown> = Promise.resolve()

  constructor(wallet: WaitingWallet) {
    const proof = Buffer.from('02', 'hex')
    const approvals = {
      approve: async () =>
        ({ authorizerId: ALICE, personIds: null, authorizedBy: 'passkey', proof }) as const,
      decisions: async (after: string | null) => {
        const decisions = this.#decided.slice(Number(after))
        return { decisions, cursor: String(this.#decided.length) }
      },
    }
    const { reader } = wallet
    const tell = ({ command }: { readonly command: unknown }) => {
      this.#handled = this.#handled.then(() => wallet.run(command as Command))
    }
    const log = { warn() {} }
    const ports = { approvals, reader, tell, timers: this.#timers, log }
    void followDecisions(ports, () => false)
  }

  async says(n: number, decision: Decided['decision']): Promise<void> {
    const authorizerId = ALICE
    const proof = decision === 'approve' ? Buffer.from('02', 'hex') : null
    const of = { approvalId: approvalIdOf(txIdOf(n)), userId: USER_ID, subWalletId: WALLET_ID }
    this.#decided.push({ ...of, decision, authorizerId, comment: null, atMs: START_MS, proof })
    await this.look()
  }

  async look(): Promise<void> {
    await this.#timers.pass(POLL_MS)
    await this.#handled
  }
}

beforeEach(async () => {
  it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
  page = new Page(it)
})

async function keyThatAsks(said: object): Promise<void> {
  const rules = [{ name: 'ask', effect: 'require_approval', when: {}, ...said }]
  const policy = policyOf({ rules, default: 'allow' })
  const key = apiKey({ dailyLimitMicros: null, monthlyLimitMicros: null, policy })
  await it.run({ type: 'register-key', key })
}

/** A call that only waited for its time, which has come. */
async function delayed(): Promise<void> {
  await keyThatAsks({ effect: 'allow', delay_seconds: 60 })
  await it.send(1, 100n)
  await it.due(61_000)
}

describe('what somebody says at the identity provider’s page', () => {
  test('ends a call whose time has come, and that is being judged again', async () => {
    await delayed()
    await page.says(1, 'decline')
    expect(it.record(1)?.status).toBe('declined')
    expect(it.reserved).toBe(0n)
  })

  test('ends a call that was being signed, once people would be asked about it again', async () => {
    await delayed()
    await it.settle()
    await page.says(1, 'decline')
    expect(it.record(1)?.status).toBe('awaiting_approval')
    await it.fail(1, 'COSIGNER_UNAVAILABLE')
    it.worth.set(txIdOf(1), 200n)
    await it.due(1_000)
    await it.settle({ quote: quoteOf(200n) })
    await page.look()
    expect(it.record(1)?.status).toBe('declined')
    expect(it.reserved).toBe(0n)
  })
})
