import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { clearHalfCopies } from '../../../src/cli/backup/half-copies.js'
import { copyDurably } from '../../../src/cli/backup/put-files.js'
import { makeNodeHome } from '../../../src/cli/operator/make-node-home.js'
import { identityProviderSocket, registryPath } from '../../../src/custody/domain-keys/layout.js'
import {
  readRegistryFile,
  writeRegistryFile,
} from '../../../src/custody/domain-keys/registry-file.js'
import { type DevHome, devHome, PRIVATE_DIR_MODE } from '../home/layout.js'
import { enrolNode } from './enrol-node.js'

const NODES = 'nodes'

/**
 * Where nodes of a cluster on one machine lie. The first is the instance's own home, which has the
 * identity provider, the root and the chains as well; each other one is a home as a machine of its own
 * would have it, below `nodes`.
 */
export function nodeHome(home: DevHome, number: number): DevHome {
  if (number === 1) return home
  const own = devHome({ COUNTERSIGN_HOME: join(home.root, NODES, String(number)) })
  return { ...own, logs: join(home.logs, `node-${number}`) }
}

export function isMade(node: DevHome): boolean {
  return existsSync(node.root)
}

/** Keys of the service are in what a killed run left of a node that it was making. */
export function clearHalfMade(home: DevHome): void {
  const directory = join(home.root, NODES)
  if (existsSync(directory)) clearHalfCopies(directory, () => true)
}

/**
 * What an operator does on a new machine, and again with what changed since: the copy of the owner's home,
 * a co-signer key and a quorum signer of its own, the registry that names both, and the way to the identity provider.
 * @param from the owner's; of the first node of another cell, any other's
 */
export async function prepareNode(
  home: DevHome,
  node: DevHome,
  from: DevHome,
  isOfNewCell = false,
): Promise<void> {
  if (!isMade(node)) await makeNodeHome(from.root, 'service', node.root, isOfNewCell)
  for (const directory of [node.run, node.logs]) {
    mkdirSync(directory, { recursive: true, mode: PRIVATE_DIR_MODE })
  }
  link(identityProviderSocket(home.root), identityProviderSocket(node.root))
  // Lists that people write are of the whole cluster.
  link(home.lists, node.lists)
  await enrolNode(home.root, node.root, ['service', 'quorum'])
  copyDurably(home.chainsFile, node.chainsFile)
}

/** The registry as it is now; whoever runs takes it over within a second. */
export function giveRegistry(home: DevHome, node: DevHome): void {
  writeRegistryFile(registryPath(node.root), readRegistryFile(registryPath(home.root)))
}

function link(target: string, path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return
  rmSync(path, { recursive: true, force: true })
  symlinkSync(target, path)
}
