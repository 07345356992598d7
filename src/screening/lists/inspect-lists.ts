/** Answers the command line's questions about lists, without a running service. */
import { parseListedAddress } from '../set/address-bytes.js'
import { type ListOwnerOptions, readListsOnce } from './list-owner.js'
import type { ListsStatus } from './published-lists.js'

interface AddressCheck {
  /** Every list that holds the address. */
  readonly lists: readonly { readonly list: string; readonly version: string }[]
  readonly status: ListsStatus
}

/** The lists as a service with these options would load them, and whether it could start. */
export async function listsStatus(options: ListOwnerOptions): Promise<ListsStatus> {
  const owner = await readListsOnce(options)
  try {
    return owner.status()
  } finally {
    owner.close()
  }
}

/** @throws TypeError when `address` is not an address */
export async function checkAddress(
  address: string,
  options: ListOwnerOptions,
): Promise<AddressCheck> {
  const bytes = parseListedAddress(address)
  if (bytes === null) throw new TypeError('not an address: 20 bytes of hex are required')
  const owner = await readListsOnce(options)
  try {
    return { lists: owner.listsWith(bytes), status: owner.status() }
  } finally {
    owner.close()
  }
}
