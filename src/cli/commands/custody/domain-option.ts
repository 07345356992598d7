import { Option } from 'commander'

export type ShareHolderName = 'service' | 'user'

/** The domain option for the two domains that hold shares. */
export function shareHolderOption(): Option {
  return new Option('--domain <name>', 'which domain')
    .choices(['service', 'user'])
    .makeOptionMandatory()
}
