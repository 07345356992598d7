import {
  type DomainName,
  registryPath,
  rootPrivateKeyPath,
  serviceLayout,
} from '../../../src/custody/domain-keys/layout.js'
import {
  readRegistryFile,
  writeRegistryFile,
} from '../../../src/custody/domain-keys/registry-file.js'
import { pinRoot } from '../../../src/custody-tools/provisioning/install-registry.js'
import { provisionDomain } from '../../../src/custody-tools/provisioning/provision-domain.js'
import {
  type Enrolment,
  withNodes,
} from '../../../src/custody-tools/provisioning/registry-draft.js'
import {
  openRegistryRoot,
  readSigned,
  signRegistry,
} from '../../../src/custody-tools/provisioning/registry-root.js'

/**
 * Has a node make its own keys, and adds them to the registry of a development home. Repeated calls
 * keep all keys.
 * @param home the home with the root; its processes load the next registry within a second
 * @param node the node's home, which gets that registry
 * @param domains the node's domains: its service, its quorum signer or both
 * @param rootKey the root's private key, if it is not in the home
 */
export async function enrolNode(
  home: string,
  node: string,
  domains: readonly Exclude<DomainName, 'user'>[],
  rootKey = rootPrivateKeyPath(home),
): Promise<void> {
  const enrolments: Enrolment[] = []
  for (const domain of domains) {
    pinRoot(node, domain, serviceLayout(home).rootKey)
    enrolments.push(await provisionDomain(node, domain, null))
  }
  const path = registryPath(home)
  const root = openRegistryRoot(rootKey)
  const present = readSigned(path, root)
  const fresh = enrolments.filter(
    ({ role, public_key }) => !present[role].some((key) => key.public_key === public_key),
  )
  if (fresh.length > 0) await signRegistry(path, root, withNodes(present, fresh, Date.now()))
  writeRegistryFile(registryPath(node), readRegistryFile(path))
}
