import { AddressRules } from '../lists/address-rules.js'
import { CheckAddress } from '../lists/check-address.js'
import { ScreeningLists } from '../lists/screening-lists.js'
import { Page } from '../parts/page.js'

/** The screening lists, and the person's own rules. */
export function ListsPage() {
  return (
    <Page title="Lists">
      <div class="stack">
        <CheckAddress />
        <AddressRules />
        <ScreeningLists />
      </div>
    </Page>
  )
}
