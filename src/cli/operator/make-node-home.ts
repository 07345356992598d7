import { chmodSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { serviceLayout, userSideLayout } from '../../custody/domain-keys/layout.js'
import { refuseHalfRestored, refuseUnfenced } from '../../custody/domain-keys/pending-restore.js'
import { lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { SIGNING_KEY_FILE } from '../../custody/key-stores/file-key-store.js'
import { disownSigners } from '../../custody/key-stores/own-signers.js'
import { moveDurably } from '../../disk/put-file.js'
import { disown, positionIn } from '../../identity-provider/journal/stores.js'
import { copyHomeFile, syncUpTo } from '../backup/copy-home-file.js'
import { beginCopy } from '../backup/half-copies.js'
import { directoryOf, filesOf, type HomeFile, requireOwnUser } from '../backup/parts.js'
import { UsageError } from '../exit-codes.js'
import { journalPositionIn } from './journal-position-in.js'

/** Of which there is one of each on a machine. */
export type NodeDomain = 'service' | 'user'

export interface NodeHome {
  /** Of the domain and of what all domains read. */
  readonly files: number
  readonly bytes: number
}

/** A node fills its own from the journal; a copy would be as old as the day it was carried over. */
const STORE = 'service/store/'
/** Each machine's service signs with keys of its own, which are made there. */
const isOwnSigner = (path: string) =>
  dirname(path) === 'service/custody/keys' && SIGNING_KEY_FILE.test(basename(path))
/** What the service has of its users, and has seen: a cell of others begins without. */
const OF_USERS = ['shares', 'shares-copy', 'ledger', 'evidence'].map(
  (directory) => `service/custody/${directory}/`,
)
/** Of a development home, and not the service's. */
const MARKER = '.countersign-home'

const MODE_BITS = 0o777

/**
 * Makes the home of a further node out of the one of a node that runs or is stopped: of the service what opens
 * its shares, those, ledger, evidence and lists, of the identity provider all that it has; the registry and the
 * chains. It gets its name when it is whole.
 * @param to a directory that is not there, or empty
 * @param isOfNewCell of the service: of another cell, so that nothing of this one's users is in it
 * @throws UsageError, and Error that names the file and the reason; nothing is left then
 */
export async function makeNodeHome(
  home: string,
  domain: NodeDomain,
  to: string,
  isOfNewCell = false,
): Promise<NodeHome> {
  refuseOccupied(to)
  const own = directoryOf(home, domain)
  if (`${to}${sep}`.startsWith(`${own}${sep}`)) {
    throw new UsageError(`${to} lies in ${own}: name a directory outside of it`)
  }
  requireOwnUser(home, domain)
  const ofService = domain === 'service'
  if ((await (ofService ? journalPositionIn(home) : positionIn(home))) === null) {
    throw new UsageError(
      ofService
        ? `the store of ${home} has no journal, by which another node would follow it: start its service once with COUNTERSIGN_JOURNAL_FILE, or say countersign cluster import`
        : `the identity provider of ${home} has no journal, by which another would follow it: start it once with IDENTITY_JOURNAL_FILE`,
    )
  }
  return holding(
    () => lockMaintenance(home, domain, 'cluster add-node'),
    () => copyHome(home, domain, to, isOfNewCell),
  )
}

function refuseOccupied(to: string): void {
  if (!existsSync(to)) return
  if (statSync(to).isDirectory() && readdirSync(to).length === 0) return
  throw new UsageError(`${to} is there and not empty: name a directory that is not`)
}

async function copyHome(
  home: string,
  domain: NodeDomain,
  to: string,
  isOfNewCell: boolean,
): Promise<NodeHome> {
  refuseHalfRestored(domain === 'service' ? serviceLayout(home) : userSideLayout(home))
  // What it forgot, no copy of it remembers, nor that it has.
  if (domain === 'user') refuseUnfenced(userSideLayout(home))
  const leftOut = isOfNewCell ? [STORE, ...OF_USERS] : [STORE]
  const files = nodeFilesOf(home, domain, leftOut)
  const partial = beginCopy(to)
  try {
    let bytes = 0
    for (const file of files) {
      const target = await copyHomeFile(file, home, partial)
      chmodSync(target, statSync(join(home, file.path)).mode & MODE_BITS)
      syncUpTo(target, partial)
      bytes += statSync(target).size
    }
    // The copy is no owner of what its original owns.
    if (domain === 'user') await disown(partial)
    else disownSigners(serviceLayout(partial).keys)
    moveDurably(partial, to)
    return { files: files.length, bytes }
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
}

/** What opens shares among them, and of the identity provider its keys: both are the same on each machine. */
function nodeFilesOf(
  home: string,
  domain: NodeDomain,
  leftOut: readonly string[],
): readonly HomeFile[] {
  const common = filesOf(home, 'config').filter(
    ({ path, isSecret }) => !isSecret && path !== MARKER,
  )
  const own = filesOf(home, domain).filter(
    ({ path }) => !isOwnSigner(path) && !leftOut.some((directory) => path.startsWith(directory)),
  )
  return [...own, ...common]
}
