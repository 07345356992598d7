import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { openEvidenceReader } from '../../src/custody/evidence/evidence-log.js'
import { readEvidence } from '../../src/custody/evidence/read-evidence.js'
import { grantedOf } from '../../src/domain/grant-terms.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import type { GrantUpdate } from '../../src/service-custody/co-signer.js'
import { type Quorum, type ReadyWallet, readyWallet } from './harness.js'

/**
 * Grants are changed and freezes set and lifted while the identity provider is killed, about when a
 * change of its ledger reaches the disk; then its log is read: each change once, in its order.
 */
const WALLETS = 4
/** Changes of the ledger's file, before the kill. */
const CHANGES_MAX = 12
const GROWTH_MS_MAX = 20_000
const READY_MS_MAX = 30_000

/** @returns what is wrong with the log; none when all is well */
export async function killAmidChanges(quorum: Quorum, kills: number): Promise<string[]> {
  const wallets = await Promise.all(Array.from({ length: WALLETS }, () => readyWallet(quorum)))
  const flows = wallets.map((wallet) => ({ wallet, cents: 10_000n }))
  for (let kill = 1; kill <= kills; kill++) {
    const running = { goesOn: true }
    const changing = flows.map(async (flow) => {
      while (running.goesOn) {
        const cents = --flow.cents
        // The kill ends them; what was under way is on record or is not there.
        await change(quorum, flow.wallet, cents).catch(() => {
          running.goesOn = false
        })
      }
    })
    await ledgerChanges(quorum, 1 + ((kill * 5) % CHANGES_MAX))
    await quorum.identityProvider.kill()
    await Promise.all(changing)
    quorum.identityProvider = await quorum.startIdentityProvider()
    if (!(await quorum.coSigner.whenReady(READY_MS_MAX))) throw new Error('quorum not ready')
  }
  // What a kill left out of the log would be a gap before these.
  for (const { wallet, cents } of flows) await change(quorum, wallet, cents - 1n)
  return gapsIn(quorum.home, wallets.length)
}

/** Three changes, of which each takes the version or sequence after the one before. */
async function change(quorum: Quorum, of: ReadyWallet, cents: bigint): Promise<void> {
  const { coSigner, userId, consoleToken } = quorum
  const frozen = { scope: 'wallet', userId, walletId: of.walletId, lineageId: null } as const
  await coSigner.putGrant(narrowed(quorum, of, cents))
  await coSigner.freeze(frozen)
  await coSigner.unfreeze({ ...frozen, consoleToken, authorization: null })
}

function narrowed({ userId }: Quorum, of: ReadyWallet, cents: bigint): GrantUpdate {
  return {
    ...grantedOf(INITIAL_POLICY),
    ...{ keyId: of.keyId, walletId: of.walletId, userId, rotatedFrom: null, proofKey: null },
    ...{ permission: 'trade', allowedChains: [1, 8453], expiresAt: null, revoked: false },
    ...{ dailyLimitMicros: cents * 10_000n, consoleToken: null, authorization: null },
    effect: 'narrows',
  }
}

async function ledgerChanges({ home }: Quorum, count: number): Promise<void> {
  const path = join(userSideLayout(home).ledger, 'data.mdb')
  const changedAt = () => statSync(path, { bigint: true }).mtimeNs
  const deadlineMs = Date.now() + GROWTH_MS_MAX
  let last = changedAt()
  for (let changes = 0; changes < count && Date.now() < deadlineMs; await turn()) {
    const now = changedAt()
    if (now !== last) changes++
    last = now
  }
}

async function gapsIn(home: string, walletsMin: number): Promise<string[]> {
  const log = openEvidenceReader(userSideLayout(home).evidence)
  try {
    const { grants, freezes, problems } = readEvidence('identity provider log', log.entries())
    const numbers = [
      ...grants.map(({ value: { statement } }) => [statement.grantId, statement.version] as const),
      ...freezes.map(
        ({ value: { statement } }) => [statement.subject, statement.sequence] as const,
      ),
    ]
    const wrong = [...problems]
    const lastOf = new Map<string, number>()
    for (const [id, number] of numbers) {
      const name = Buffer.from(id).toString('hex')
      const expected = (lastOf.get(name) ?? 0) + 1
      if (number !== expected) wrong.push(`${name}: ${number} in the place of ${expected}`)
      lastOf.set(name, number)
    }
    const moved = [...lastOf.values()].filter((number) => number > 1).length
    if (moved < 2 * walletsMin) wrong.push(`only ${moved} things were changed`)
    return wrong
  } finally {
    await log.close()
  }
}
