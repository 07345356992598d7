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

/** The domains of which a machine runs one each. */
export type NodeDomain = 'service' | 'user'

interface NodeHome {
  /** The number of files of the domain, and of those that all domains read. */
  readonly files: number
  readonly bytes: number
}

/** A node fills its own store from the journal; a copied store would be outdated. */
const STORE = 'service/store/'
/** Each machine's service signs with its own keys, which are made on that machine. */
const isOwnSigner = (path: string) =>
  dirname(path) === 'service/custody/keys' && SIGNING_KEY_FILE.test(basename(path))
/** The service's data about its users; another cell begins without it. */
const OF_USERS = ['shares', 'shares-copy', 'ledger', 'evidence'].map(
  (directory) => `service/custody/${directory}/`,
)
/** Belongs to a development home, not to the service. */
const MARKER = '.countersign-home'

const MODE_BITS = 0o777

/**
 * Makes the home of a further node from the home of a running or stopped one. For the service it
 * contains what opens its shares, the shares, ledger, evidence and lists; for the identity provider
 * everything; and the registry and the chains. The directory gets its name when it is complete.
 * @param to a directory that does not exist, or is empty
 * @param isOfNewCell service only: the node is of another cell, so the copy has no data of this
 * one's users
 * @throws UsageError, and Error that names the file and the reason; then nothing is left behind
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
    throw new UsageError(`${to} is inside ${own}: name a directory outside it`)
  }
  requireOwnUser(home, domain)
  const ofService = domain === 'service'
  if ((await (ofService ? journalPositionIn(home) : positionIn(home))) === null) {
    throw new UsageError(
      ofService
        ? `the store of ${home} has no journal that another node could follow: start its service once with COUNTERSIGN_JOURNAL_FILE, or run countersign cluster import`
        : `the identity provider of ${home} has no journal that another node could follow: start it once with IDENTITY_JOURNAL_FILE`,
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
  throw new UsageError(`${to} is not empty: name a new or empty directory`)
}

async function copyHome(
  home: string,
  domain: NodeDomain,
  to: string,
  isOfNewCell: boolean,
): Promise<NodeHome> {
  refuseHalfRestored(domain === 'service' ? serviceLayout(home) : userSideLayout(home))
  // A copy would not know what this home has forgotten, nor that it has.
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
    // The copy does not have the leadership of its original.
    if (domain === 'user') await disown(partial)
    else disownSigners(serviceLayout(partial).keys)
    moveDurably(partial, to)
    return { files: files.length, bytes }
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
}

/**
 * The files include what opens shares, and the identity provider's keys: both are the same on each
 * machine.
 */
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
