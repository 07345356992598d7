import { Option } from 'commander'
import type { NodeDomain } from '../../operator/make-node-home.js'

/** The service and the identity provider each have a journal, in separate engines. */
export function journaledDomainOption(): Option {
  return new Option('--domain <name>', "whose journal: the service's or the identity provider's")
    .choices(['service', 'user'])
    .default('service')
}

export interface DomainOptions {
  readonly domain: NodeDomain
}
