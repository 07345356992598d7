import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { rewrapDataKeys } from '../../custody/domain-keys/data-keys.js'
import {
  type DomainLayout,
  serviceLayout,
  userSideLayout,
} from '../../custody/domain-keys/layout.js'
import {
  noteUnfenced,
  type OwnEvidence,
  pendingRestorePath,
  unfencedEvidence,
} from '../../custody/domain-keys/pending-restore.js'
import { writePublicFile } from '../../custody/domain-keys/private-file.js'
import { openShareCopies } from '../../custody/domain-keys/share-copies.js'
import { openShareStore } from '../../custody/domain-keys/share-store.js'
import { openEvidenceReader } from '../../custody/evidence/evidence-log.js'
import { type ReadEvidence, readEvidence } from '../../custody/evidence/read-evidence.js'
import { lockStopped } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { openKeyStore } from '../../custody/key-stores/open-key-store.js'
import { readWrappingKey, readWrappingKeys } from '../../custody/key-stores/wrapping-key.js'
import { moveDurably } from '../../disk/put-file.js'
import { decodeCertificate } from '../../quorum-protocol/keygen.js'
import { readManifest, requireIntact, rootOf } from './backup-domain.js'
import { checkShares } from './check-shares.js'

export interface RestoreOptions {
  readonly home: string
  readonly domain: 'service' | 'user'
  /** A directory that `backUpDomain` wrote. */
  readonly from: string
  /**
   * `refuse` rejects shares of an epoch that this domain has left, because the other domain has
   * erased their counterparts. `accept` allows them when the other domain is restored as well.
   */
  readonly olderEpochs: 'refuse' | 'accept'
  /** The wrapping key in use when the backup was made; null for the present one. */
  readonly wrappingKeyPath: string | null
}

const STORES = ['shares', 'sharesCopy', 'ledger', 'evidence'] as const

/**
 * Replaces one domain's stores with a backup; the domain must be stopped. Everything is first
 * copied to a temporary place and checked, so that a bad backup changes nothing. Then renames swap
 * the stores, protected by a marker file: after a crash the same command finishes the swap, and the
 * domain does not start before. An identity provider also does not start before it is fenced.
 * Earlier stores are set aside, not removed; evidence that is intact and longer than the backup's
 * stays.
 * @returns number of wallets whose share fits its certificate
 * @throws Error that names the file and the reason
 */
export function restoreDomain(options: RestoreOptions): Promise<number> {
  const lock = () => lockStopped(options.home, options.domain, 'custody restore')
  return holding(lock, () => restore(options))
}

async function restore(options: RestoreOptions): Promise<number> {
  const { home, domain, from } = options
  const layout = domain === 'service' ? serviceLayout(home) : userSideLayout(home)
  if (existsSync(pendingRestorePath(layout))) finishSwap(domain, layout)
  const manifest = readManifest(from)
  if (manifest.domain !== domain) {
    throw new Error(`${from} is a backup of the ${manifest.domain} domain, not of ${domain}`)
  }
  if (manifest.root !== rootOf(layout.rootKey)) {
    throw new Error(`${from} is a backup of another installation: its registry has another root`)
  }
  await requireIntact(from, manifest)
  const staged = stagedLayout(layout)
  try {
    stage(domain, from, staged)
    const outlived = await isLonger(layout.evidence, staged.evidence)
    if (outlived) rmSync(staged.evidence, { recursive: true })
    const wallets = await checkStaged(options, layout, staged)
    // What an earlier restore put here did not survive from before.
    const isOfBackup = !outlived || unfencedEvidence(layout) === 'of-backup'
    beginSwap(layout, isOfBackup ? 'of-backup' : 'outlived')
    finishSwap(domain, layout)
    return wallets
  } finally {
    for (const store of STORES) rmSync(staged[store], { recursive: true, force: true })
  }
}

function stagedLayout(layout: DomainLayout): Pick<DomainLayout, (typeof STORES)[number]> {
  // No dot in these names: lmdb takes a path with an extension for a file.
  return {
    shares: `${layout.shares}-restoring`,
    sharesCopy: `${layout.sharesCopy}-restoring`,
    ledger: `${layout.ledger}-restoring`,
    evidence: `${layout.evidence}-restoring`,
  }
}

function stage(
  domain: 'service' | 'user',
  from: string,
  staged: Pick<DomainLayout, (typeof STORES)[number]>,
): void {
  for (const store of STORES) {
    rmSync(staged[store], { recursive: true, force: true })
    const source = join(from, store === 'sharesCopy' ? 'shares' : store, 'data.mdb')
    if (!existsSync(source)) {
      // The service has no ledger.
      if (store === 'ledger' && domain === 'service') continue
      throw new Error(`${source} is missing`)
    }
    mkdirSync(staged[store], { recursive: true, mode: 0o700 })
    copyFileSync(source, join(staged[store], 'data.mdb'))
  }
}

async function checkStaged(
  options: RestoreOptions,
  layout: DomainLayout,
  staged: Pick<DomainLayout, (typeof STORES)[number]>,
): Promise<number> {
  const { domain, from, wrappingKeyPath } = options
  const keyStore = await openKeyStore(layout.keys, 'allowed')
  try {
    const read = async () => [
      ...(await readWrappingKeys(layout.wrappingKey, keyStore)),
      ...(wrappingKeyPath === null ? [] : [await readWrappingKey(wrappingKeyPath, keyStore)]),
    ]
    await rewrapForPresent(domain, await read(), staged)
    const present = await readWrappingKeys(layout.wrappingKey, keyStore)
    const shares = openShareStore(domain, staged, present)
    try {
      const wallets = checkShares(domain, staged.shares, shares)
      // A journal has later records, which are adopted unless they are refused.
      shares.marks.removeAll()
      await shares.marks.noteLevelWith('')
      if (options.olderEpochs !== 'refuse') shares.marks.putRestored()
      if (options.olderEpochs === 'refuse') {
        for (const [walletId, epoch] of await latestEpochs(layout)) {
          const restored = shares.get(Buffer.from(walletId, 'hex'))
          if (restored !== null && restored.certificate.epoch < epoch) {
            throw new Error(
              `wallet ${walletId} is at epoch ${restored.certificate.epoch}, this domain at ${epoch}: ` +
                'the other domain has erased the share that fits it',
            )
          }
        }
      }
      return wallets
    } finally {
      await shares.close()
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`backup ${from}: ${reason}`, { cause })
  } finally {
    await keyStore.close()
  }
}

/**
 * A backup's data keys are wrapped under the key of that time; they are wrapped again under the
 * present one.
 */
async function rewrapForPresent(
  domain: 'service' | 'user',
  candidates: Buffer[],
  staged: Pick<DomainLayout, 'shares' | 'sharesCopy'>,
): Promise<void> {
  const copies = openShareCopies(staged)
  try {
    if (copies.dataKeys.list().length === 0) throw new Error('it contains no data key')
    const [present, ...others] = candidates
    if (present === undefined) throw new Error('no wrapping key')
    rewrapDataKeys(domain, [...others, present], copies.dataKeys)
  } finally {
    await copies.close()
  }
}

/** Returns the newest epoch of each wallet in this domain's own evidence, by wallet id in hex. */
async function latestEpochs(layout: DomainLayout): Promise<Map<string, number>> {
  const epochs = new Map<string, number>()
  if (!existsSync(join(layout.evidence, 'data.mdb'))) return epochs
  for (const { value } of (await entriesOf(layout.evidence)).wallets) {
    const { walletId, epoch } = decodeCertificate(value.certificate)
    const name = Buffer.from(walletId).toString('hex')
    epochs.set(name, Math.max(epoch, epochs.get(name) ?? 0))
  }
  return epochs
}

/** Tells whether the present evidence is intact and has everything that the other can have. */
async function isLonger(present: string, other: string): Promise<boolean> {
  if (!existsSync(join(present, 'data.mdb'))) return false
  try {
    const [mine, theirs] = [await entriesOf(present), await entriesOf(other)]
    return mine.problems.length === 0 && mine.entries >= theirs.entries
  } catch {
    return false
  }
}

async function entriesOf(path: string): Promise<ReadEvidence> {
  const log = openEvidenceReader(path)
  try {
    return readEvidence('evidence', log.entries())
  } finally {
    await log.close()
  }
}

interface SwapNote {
  readonly aside: string
  readonly evidence?: OwnEvidence
}

function beginSwap(layout: DomainLayout, evidence: OwnEvidence): void {
  const note: SwapNote = { aside: `-before-restore-${Date.now()}`, evidence }
  writePublicFile(pendingRestorePath(layout), Buffer.from(JSON.stringify(note)))
}

/** Each step checks what is there, so that it may be repeated from any point. */
function finishSwap(domain: 'service' | 'user', layout: DomainLayout): void {
  const path = pendingRestorePath(layout)
  const { aside, evidence = 'of-backup' } = JSON.parse(readFileSync(path, 'utf8')) as SwapNote
  const staged = stagedLayout(layout)
  for (const store of STORES) {
    if (!existsSync(staged[store])) continue
    if (existsSync(layout[store])) moveDurably(layout[store], `${layout[store]}${aside}`)
    moveDurably(staged[store], layout[store])
  }
  // The service keeps no memory that the other domain would have to restore.
  if (domain === 'user') noteUnfenced(layout, evidence)
  rmSync(path)
}
