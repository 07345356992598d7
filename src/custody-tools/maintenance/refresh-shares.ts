import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { systemTimers } from '../../clock/timers.js'
import type { CarriedShares } from '../../custody/domain-keys/carried-shares.js'
import {
  identityProviderSocket,
  quorumSignerSocket,
  registryPath,
  serviceLayout,
} from '../../custody/domain-keys/layout.js'
import { readRootKey } from '../../custody/domain-keys/registry-file.js'
import type { StoredRecord } from '../../custody/domain-keys/share-copies.js'
import { openShareStore, type ShareStore } from '../../custody/domain-keys/share-store.js'
import { openEvidenceLog } from '../../custody/evidence/evidence-log.js'
import { lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { chooseSigner } from '../../custody/key-stores/choose-signer.js'
import { openKeyStore } from '../../custody/key-stores/open-key-store.js'
import { readWrappingKeys } from '../../custody/key-stores/wrapping-key.js'
import type { Endpoint } from '../../quorum-protocol/endpoint.js'
import { holdRegistry } from '../../quorum-protocol/registry-holder.js'
import type { JournalLeadership } from '../../quorum-protocol/service-boot.js'
import { lastBatchSeq } from '../../service-custody/last-batch.js'
import { linkQuorum } from '../../service-custody/quorum-link.js'
import { refreshShare } from '../../service-custody/refresh-share.js'
import { lastServiceBoot } from '../../service-custody/service-boot-file.js'
import { verified } from '../provisioning/install-registry.js'

interface RefreshSharesOptions {
  readonly home: string
  /** The identity provider's endpoint; the default is its socket in the home. */
  readonly userSide?: Endpoint
  /**
   * Null when the service has no journal. A command in the home of a standby, or of a service that
   * was taken over, does not act for the service.
   */
  readonly journal: SharesInJournal | null
  /** 16 bytes each; null refreshes every wallet that has its key. */
  readonly walletIds: readonly Uint8Array[] | null
  readonly log: Logger
  /** Called for each share in the journal that does not belong to this service; it is skipped. */
  readonly unfit: (wallet: string, error: Error) => void
  /** Called for each wallet once both domains have changed over. */
  readonly refreshed: (walletId: Uint8Array, epoch: number) => void
}

/** The shares in a service's journal. */
export interface SharesInJournal {
  /** The leadership with which this home's service last acquired the journal. */
  readonly leadership: JournalLeadership
  /** @param wallet 32 hex digits */
  get(wallet: string): StoredRecord | undefined
  /** @param after an empty string starts with the first wallet */
  wallets(after: string, limit: number): readonly string[]
}

/**
 * Evidence chains below this number belong to the service's threads. A command's chain is this
 * number plus its process id, so that concurrent commands never write the same chain.
 */
const COMMAND_CHAIN_BASE = 1_000_000
const QUORUM_TIMEOUT_MS = 6_000

/**
 * Refreshes shares wallet by wallet, acting for the service: beside it while it runs, or in its
 * place while it does not. A service with a journal must run, because only it writes the journal.
 * Both other domains must run. The command may be interrupted and repeated.
 * @returns number of wallets refreshed
 * @throws Error when the quorum does not answer, or a wallet's two shares do not belong together
 */
export function refreshShares(options: RefreshSharesOptions): Promise<number> {
  const lock = () => lockMaintenance(options.home, 'service', 'custody refresh-shares')
  return holding(lock, () => refresh(options))
}

async function refresh(options: RefreshSharesOptions): Promise<number> {
  const { home, journal, log } = options
  const leadership = journal?.leadership ?? null
  const timers = systemTimers()
  const layout = serviceLayout(home)
  const { envelope } = verified(registryPath(home), [layout.rootKey])
  const registry = holdRegistry(readRootKey(layout.rootKey), envelope)
  const keyStore = await openKeyStore(layout.keys, 'allowed')
  const signer = await chooseSigner(keyStore, 'co_signers', registry.current, timers.now())
  const wrappingKeys = await readWrappingKeys(layout.wrappingKey, keyStore)
  const carried = journal === null ? null : carriedByService(journal, () => shares)
  const shares = openShareStore('service', layout, wrappingKeys, carried)
  const chain = COMMAND_CHAIN_BASE + process.pid
  // A failure ends the command, which may be repeated.
  const evidence = openEvidenceLog(layout.evidence, chain, () => {})
  const recordedSeq = lastBatchSeq(evidence)
  const link = linkQuorum({
    userSide: options.userSide ?? { path: identityProviderSocket(home) },
    quorumSocket: quorumSignerSocket(home),
    registry,
    signer,
    ...{ boot: lastServiceBoot(home, timers), leadership },
    timers,
    log,
    approvedFloor: () => recordedSeq,
    onLost: () => {},
  })
  try {
    if (!(await link.whenReady(QUORUM_TIMEOUT_MS))) {
      if (link.fenced) {
        throw new Error(
          "this home's wallet service does not sign: another one does, or has taken over. Run this command in the home of that service",
        )
      }
      throw new Error('the identity provider or the quorum signer does not answer')
    }
    if (journal !== null) adoptAll(journal, shares, options.unfit)
    let count = 0
    for (const walletId of options.walletIds ?? [...shares.walletIds()]) {
      const record = shares.get(walletId)
      if (options.walletIds === null && record?.proofs === null) continue
      const context = { link, signer, shares, evidence, registry: registry.current, timers }
      options.refreshed(walletId, await refreshShare(walletId, context))
      count++
    }
    return count
  } finally {
    link.close()
    await shares.close()
    await evidence.close()
    await keyStore.close()
  }
}

const CARRIED_WITHIN_MS = 30_000
const POLL_MS = 25

/**
 * Waits until the running service has copied a marked share to the journal. Without the service
 * nothing is refreshed: the other domain would change over to a share that exists on one machine
 * only.
 */
function carriedByService(journal: SharesInJournal, shares: () => ShareStore): CarriedShares {
  return {
    leadership: () => journal.leadership,
    async put(walletId) {
      const untilMs = Date.now() + CARRIED_WITHIN_MS
      while (shares().isUncarried(walletId)) {
        if (Date.now() > untilMs) {
          throw new Error(
            "the share did not reach the journal within 30 s: this home's service must run and its journal must answer; check both, then repeat this command",
          )
        }
        await setTimeout(POLL_MS)
      }
    },
    get: (walletId) => journal.get(hex(walletId)),
    first() {
      const [wallet] = journal.wallets('', 1)
      return wallet === undefined ? undefined : journal.get(wallet)
    },
  }
}

const ADOPTED_AT_ONCE = 256

/** Adopts what other machines made, before listing the wallets. */
function adoptAll(
  journal: SharesInJournal,
  shares: ShareStore,
  unfit: RefreshSharesOptions['unfit'],
): void {
  let last: string | undefined = ''
  while (last !== undefined) {
    const wallets = journal.wallets(last, ADOPTED_AT_ONCE)
    for (const wallet of wallets) {
      try {
        shares.adopt(Buffer.from(wallet, 'hex'))
      } catch (error) {
        unfit(wallet, error instanceof Error ? error : new Error(String(error)))
      }
    }
    last = wallets.at(-1)
  }
}

function hex(walletId: Uint8Array): string {
  return Buffer.from(walletId).toString('hex')
}
