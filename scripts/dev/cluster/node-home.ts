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
 * The homes of nodes on one machine. The first is the instance's own home, which also has the
 * identity provider, the root and the chains; every other one, below `nodes`, is like the home of a
 * separate machine.
 */
export function nodeHome(home: DevHome, number: number): DevHome {
  if (number === 1) return home
  const own = devHome({ COUNTERSIGN_HOME: join(home.root, NODES, String(number)) })
  return { ...own, logs: join(home.logs, `node-${number}`) }
}

export function isMade(node: DevHome): boolean {
  return existsSync(node.root)
}

/** Removes the unfinished node home of a killed run, which contains keys of the service. */
export function clearHalfMade(home: DevHome): void {
  const directory = join(home.root, NODES)
  if (existsSync(directory)) clearHalfCopies(directory, () => true)
}

/**
 * Does what an operator does on a new machine, and repeats it for later changes: the copy of the
 * leader's home, its own co-signer key and quorum signer, the registry that names both, and the
 * link to the identity provider.
 * @param from the leader's home; for the first node of another cell, any other node's
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
  // People's lists are shared by the whole cluster.
  link(home.lists, node.lists)
  await enrolNode(home.root, node.root, ['service', 'quorum'])
  copyDurably(home.chainsFile, node.chainsFile)
}

/** Copies the present registry; running processes load it within a second. */
export function giveRegistry(home: DevHome, node: DevHome): void {
  writeRegistryFile(registryPath(node.root), readRegistryFile(registryPath(home.root)))
}

function link(target: string, path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return
  rmSync(path, { recursive: true, force: true })
  symlinkSync(target, path)
}
