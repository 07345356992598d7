import { Option } from 'commander'
import type { NodeDomain } from '../../operator/make-node-home.js'

/** Each of the two has a journal, in an engine of its own. */
export function journaledDomainOption(): Option {
  return new Option('--domain <name>', 'whose journal: of the service, or of the identity provider')
    .choices(['service', 'user'])
    .default('service')
}

export interface DomainOptions {
  readonly domain: NodeDomain
}
