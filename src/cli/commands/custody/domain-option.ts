import { Option } from 'commander'

export type ShareHolderName = 'service' | 'user'

/** Which of the two domains that hold shares. */
export function shareHolderOption(): Option {
  return new Option('--domain <name>', 'whose').choices(['service', 'user']).makeOptionMandatory()
}
