import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NO_AUTHORIZERS } from '../../src/custody/authorizers/authorizer-set.js'
import { encodeGrantStatement } from '../../src/custody/authorizers/grant-statement.js'
import { subKeyProof } from '../../src/custody/authorizers/sub-key-proof.js'
import type { ShareStore } from '../../src/custody/domain-keys/share-store.js'
import { type EvidenceLog, openEvidenceLog } from '../../src/custody/evidence/evidence-log.js'
import { createPersons } from '../../src/custody/members/persons.js'
import { canonicalGrant, grantedOf } from '../../src/domain/grant-terms.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import { hasEnded } from '../../src/identity-provider/vault/ancestors.js'
import { type Authorizer, NOTHING_CONFIRMED } from '../../src/identity-provider/vault/authorizer.js'
import { createGrants, type Grants } from '../../src/identity-provider/vault/grants.js'
import {
  type LedgerStore,
  openLedgerStore,
} from '../../src/identity-provider/vault/ledger-store.js'
import { createRecordedChanges } from '../../src/identity-provider/vault/recorded-changes.js'
import type { GrantRequest } from '../../src/quorum-protocol/methods/grants.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'

/** A lineage that was granted before keys made keys, and so keeps no list of its own. */

const USER_ID = 'user_1'
const OWNER = sha256(Buffer.from(USER_ID))
const [WALLET, MAKER, MADE] = [randomBytes(16), randomBytes(16), randomBytes(16)]
const MAKER_PROOF_KEY = randomBytes(32)
const TERMS = canonicalGrant({
  ...INITIAL_POLICY,
  ...{ permission: 'trade', mayDelegate: true, allowedChains: [1, 8453] },
})

let home: string
let evidence: EvidenceLog
let ledger: LedgerStore
let grants: Grants

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'cs-lineage-'))
  evidence = openEvidenceLog(join(home, 'evidence'), 0, () => {})
  ledger = openLedgerStore(join(home, 'ledger'), evidence)
  const wallet = { proofs: {}, certificate: { ownerHash: OWNER } }
  const dataKeys = { seal: (bytes: Uint8Array) => Buffer.from(bytes), open: Buffer.from }
  const shares = { get: () => wallet, dataKeys } as unknown as ShareStore
  const authorizer: Authorizer = {
    announcement: '',
    confirm: async () => NOTHING_CONFIRMED,
    spend: async () => {},
    requireStanding: () => {},
  }
  const persons = createPersons(ledger, { setOf: () => NO_AUTHORIZERS })
  const changes = createRecordedChanges(ledger, evidence)
  grants = createGrants(ledger, shares, authorizer, persons, changes)
  await ledger.commit((writer) => {
    const of = { walletId: WALLET, userId: USER_ID, version: 1, parentId: null, liveKeys: [] }
    writer.putGrant(MAKER, { ...grantedOf(TERMS), ...of })
    writer.putKey(MAKER, {
      ...{ grantId: MAKER, sealedProofKey: MAKER_PROOF_KEY, expiresAtMs: null, revoked: false },
      ceiling: null,
    })
  }).flushed
})
afterEach(async () => {
  await ledger.close()
  await evidence.close()
  rmSync(home, { recursive: true, force: true })
})

test('goes on, and what its key made with it, when it loses something', async () => {
  await grants.put(made(), null)
  await grants.put(request({ keyId: MAKER, allowedChains: [8453] }), null)
  const [above] = grants.view(MADE)?.ancestors ?? []
  expect(above?.grant.allowedChains).toEqual([8453])
  expect(above !== undefined && hasEnded(above, Date.now())).toBe(false)
})

function request(change: Partial<GrantRequest>): GrantRequest {
  return {
    ...{ ...TERMS, expiresAtMs: null, keyId: MAKER, walletId: WALLET, userId: USER_ID },
    ...{ rotatedFrom: null, parentId: null, madeBy: null, makerProof: null, proofKey: null },
    ...{ revoked: false, consoleToken: '', confirmation: null, confirmBeforeMs: 0, basedOn: null },
    ...change,
  }
}

function made(): GrantRequest {
  const proofKey = randomBytes(32)
  const asked = request({ keyId: MADE, parentId: MAKER, madeBy: MAKER, proofKey })
  const statement = encodeGrantStatement({
    ...{ ...grantedOf(asked), keyId: MADE, grantId: MADE, version: 1, walletId: WALLET },
    ...{ ownerHash: OWNER, expiresAtMs: null, revoked: false, rotatedFrom: null },
    ...{ parentId: MAKER, proofKeyDigest: sha256(proofKey), confirmBeforeMs: 0 },
  })
  return { ...asked, makerProof: subKeyProof(MAKER_PROOF_KEY, statement) }
}
