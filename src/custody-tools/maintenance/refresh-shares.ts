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
import type { JournalOwner } from '../../quorum-protocol/service-boot.js'
import { lastBatchSeq } from '../../service-custody/last-batch.js'
import { linkQuorum } from '../../service-custody/quorum-link.js'
import { refreshShare } from '../../service-custody/refresh-share.js'
import { lastServiceBoot } from '../../service-custody/service-boot-file.js'
import { verified } from '../provisioning/install-registry.js'

export interface RefreshSharesOptions {
  readonly home: string
  /** Where the identity provider is reached; default: by its socket in the home. */
  readonly userSide?: Endpoint
  /**
   * A command on the home of a standby, or of one that was taken over from, is no part of the service.
   * Null: the service has no journal.
   */
  readonly journal: SharesInJournal | null
  /** 16 bytes each; null: every wallet that has its key. */
  readonly walletIds: readonly Uint8Array[] | null
  readonly log: Logger
  /** Called for each share in the journal that does not belong to this service; it is passed over. */
  readonly unfit: (wallet: string, error: Error) => void
  /** Called for each wallet once both sides have changed over. */
  readonly refreshed: (walletId: Uint8Array, epoch: number) => void
}

/** What the journal of a service has of its shares. */
export interface SharesInJournal {
  /** As which owner the service of this home last took it. */
  readonly owner: JournalOwner
  /** @param wallet 32 hex digits */
  get(wallet: string): StoredRecord | undefined
  /** @param after empty: from the first */
  wallets(after: string, limit: number): readonly string[]
}

/**
 * Evidence chains below this belong to threads of the service. A command's chain is its process
 * id above it: no two commands that run at once write one chain.
 */
const COMMAND_CHAIN_BASE = 1_000_000
const QUORUM_TIMEOUT_MS = 6_000

/**
 * Refreshes shares, wallet by wallet, as a part of the service: alongside it while it runs, or in its
 * place while it does not, unless it has a journal, which it alone writes. Both other domains must run. It
 * may be interrupted and repeated at will.
 * @returns number of wallets refreshed
 * @throws Error when the quorum is not there, or a wallet's two sides do not belong together
 */
export function refreshShares(options: RefreshSharesOptions): Promise<number> {
  const lock = () => lockMaintenance(options.home, 'service', 'custody refresh-shares')
  return holding(lock, () => refresh(options))
}

async function refresh(options: RefreshSharesOptions): Promise<number> {
  const { home, journal, log } = options
  const owner = journal?.owner ?? null
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
    ...{ boot: lastServiceBoot(home, timers), owner },
    timers,
    log,
    approvedFloor: () => recordedSeq,
    onLost: () => {},
  })
  try {
    if (!(await link.whenReady(QUORUM_TIMEOUT_MS))) {
      if (link.fenced) {
        throw new Error(
          'another wallet service than the one of this home signs, or has taken over from it: say this at the home of that one',
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
const LOOK_MS = 25

/**
 * The service of this home carries what it finds marked. Without it nothing is refreshed: the other side
 * would change over to a share that is on one machine.
 */
function carriedByService(journal: SharesInJournal, shares: () => ShareStore): CarriedShares {
  return {
    owner: () => journal.owner,
    async put(walletId) {
      const untilMs = Date.now() + CARRIED_WITHIN_MS
      while (shares().isUncarried(walletId)) {
        if (Date.now() > untilMs) {
          throw new Error(
            'the share was not put into the journal within half a minute: that is what the service of this home does, while it runs and the journal answers',
          )
        }
        await setTimeout(LOOK_MS)
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

/** What other machines made, before it is known which wallets there are. */
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
