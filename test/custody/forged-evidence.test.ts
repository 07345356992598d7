import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readGrantStatement } from '../../src/custody/authorizers/grant-statement.js'
import {
  registryPath,
  serviceLayout,
  userSideLayout,
} from '../../src/custody/domain-keys/layout.js'
import { readRegistryFile, readRootKey } from '../../src/custody/domain-keys/registry-file.js'
import { openEvidenceReader } from '../../src/custody/evidence/evidence-log.js'
import {
  type BatchEvidence,
  decodeBatchEvidence,
  decodeWalletEvidence,
  encodeBatchEvidence,
  encodeWalletEvidence,
} from '../../src/custody/evidence/evidence-records.js'
import { readEvidence } from '../../src/custody/evidence/read-evidence.js'
import {
  chainHash,
  EVIDENCE_HASH_BYTES,
  EVIDENCE_KIND,
  type StoredEvidence,
} from '../../src/custody/evidence/stored-evidence.js'
import { verifyEvidence } from '../../src/custody-tools/audit/verify-evidence.js'
import { openRegistry } from '../../src/quorum-protocol/registry.js'
import {
  type Quorum,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

let quorum: Quorum
let wallet: ReadyWallet
/** Both logs as they are on disk. */
let logs: Readonly<Record<LogName, readonly StoredEvidence[]>>

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
  for (let nonce = 0; nonce < 3; nonce++) {
    await signed(quorum, requestOf(wallet, transfer(nonce)))
  }
  logs = {
    service: await storedIn(serviceLayout(quorum.home).evidence),
    identity: await storedIn(userSideLayout(quorum.home).evidence),
  }
})
afterAll(() => quorum?.close())

const problemsOf = async (change: Change) => (await auditOf(change)).problems

describe('evidence whose every hash a forger computed again', () => {
  test('holds when nothing was changed', async () => {
    const report = await auditOf(({ body }) => body)
    expect(report).toMatchObject({ problems: [], approvals: 3, wallets: 1 })
  })

  test.each(['service', 'identity'] as const)(
    'a co-signature, an approval, a payload and a bitmap that were changed are found in the %s log',
    async (of) => {
      const changes: ((batch: BatchEvidence) => BatchEvidence)[] = [
        (batch) => ({ ...batch, coSignature: flipped(batch.coSignature, 40) }),
        (batch) => ({ ...batch, approval: flipped(batch.approval, 40) }),
        (batch) => ({
          ...batch,
          intents: batch.intents.map((intent) => flipped(intent, intent.length - 2)),
        }),
        (batch) => ({ ...batch, bitmap: batch.bitmap ^ 1 }),
        (batch) => ({ ...batch, header: flipped(batch.header, 20) }),
      ]
      for (const change of changes) {
        const problems = await problemsOf(({ log, kind, body }) =>
          log === of && kind === EVIDENCE_KIND.batch
            ? encodeBatchEvidence(change(decodeBatchEvidence(body)))
            : body,
        )
        expect(problems.join()).toMatch(/log: signatures of entry \d+ do not verify/)
      }
    },
  )

  test('a wallet that its own key or a side has not signed is found, and what it approved', async () => {
    for (const field of ['selfTest', 'serviceSignature', 'userSignature'] as const) {
      const problems = await problemsOf(({ kind, body }) => {
        if (kind !== EVIDENCE_KIND.wallet) return body
        const evidence = decodeWalletEvidence(body)
        return encodeWalletEvidence({ ...evidence, [field]: flipped(evidence[field], 20) })
      })
      expect(problems.join()).toMatch(/wallet certificate in entry \d+ does not verify/)
      expect(problems.join()).toMatch(/no certificate of its wallet/)
    }
  })

  test('a grant without its proof, and one that is not there, are found', async () => {
    const unproven = await problemsOf(({ kind, body }) =>
      kind === EVIDENCE_KIND.grant ? readGrantStatement(body).encoded : body,
    )
    expect(unproven.join()).toMatch(
      /grant in entry \d+ enlarges without the proof of an authorizer/,
    )
    const without = await problemsOf(({ kind, body }) =>
      kind === EVIDENCE_KIND.grant ? null : body,
    )
    expect(without.join()).toMatch(/its grant is not in the identity provider's log/)
  })

  test('an approval that is in one log alone is found, or counted as an answer that was lost', async () => {
    const takenFrom = (of: LogName) => {
      let seen = 0
      return auditOf(({ log, kind, body }) =>
        log === of && kind === EVIDENCE_KIND.batch && seen++ === 0 ? null : body,
      )
    }
    expect((await takenFrom('identity')).problems.join()).toMatch(
      /service log: approval \w+ is not in the identity provider's log/,
    )
    expect((await takenFrom('service')).unanswered).toBe(1)
  })
})

type LogName = 'service' | 'identity'

interface Entry {
  readonly log: LogName
  readonly kind: number
  readonly body: Uint8Array
}

/** Returns the body to store; null takes the entry out and renumbers those after it. */
type Change = (entry: Entry) => Uint8Array | null

async function storedIn(path: string): Promise<StoredEvidence[]> {
  const log = openEvidenceReader(path)
  try {
    // Copies, because a closed log ends the life of its own memory.
    return [...log.entries()].map((entry) => ({ ...entry, bytes: Buffer.from(entry.bytes) }))
  } finally {
    await log.close()
  }
}

function forged(log: LogName, change: Change): StoredEvidence[] {
  const heads = new Map<number, { readonly hash: Uint8Array; readonly index: number }>()
  return logs[log].flatMap(({ chain, bytes }) => {
    const stamp = bytes.subarray(EVIDENCE_HASH_BYTES, EVIDENCE_HASH_BYTES + 9)
    const body = change({
      ...{ log, kind: stamp[8] ?? 0 },
      body: bytes.subarray(EVIDENCE_HASH_BYTES + 9),
    })
    if (body === null) return []
    const { hash: before, index } = heads.get(chain) ?? {
      ...{ hash: Buffer.alloc(EVIDENCE_HASH_BYTES), index: 0 },
    }
    const content = Buffer.concat([stamp, body])
    const hash = chainHash(before, chain, index, content)
    heads.set(chain, { hash, index: index + 1 })
    return [{ chain, index, bytes: Buffer.concat([hash, content]) }]
  })
}

function flipped(bytes: Uint8Array, at: number): Buffer {
  const out = Buffer.from(bytes)
  out[at] = (out[at] ?? 0) ^ 1
  return out
}

function auditOf(change: Change) {
  const { home } = quorum
  const root = readRootKey(serviceLayout(home).rootKey)
  const registry = openRegistry(readRegistryFile(registryPath(home)), root)
  const service = readEvidence('service log', forged('service', change))
  const identity = readEvidence('identity provider log', forged('identity', change))
  return verifyEvidence([service], identity, registry)
}
