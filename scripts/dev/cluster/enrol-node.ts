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
 * Has a node make keys of its own, and the root of a development home name them beside the others'. Repeated
 * calls keep all keys.
 * @param home with the root; whoever runs there takes the next registry over within a second
 * @param node gets that registry
 * @param domains that the node has: its service, its quorum signer or both
 * @param rootKey private, where it lies elsewhere
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
