import { Card } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { Ago } from '../parts/times.js'
import type { Detail } from './detail.js'

const REFUSED: Readonly<Record<string, string>> = {
  ADDRESS_BLOCKED: 'An address in it is on one of these lists, or a rule of yours blocks it.',
  CALLDATA_UNDECODABLE:
    'Its calldata could not be decoded, so it could not be compared with these lists.',
}

/** The lists that its verdict used, with the versions that it was compared with. */
export function Screened({ tx: { screened_against: lists, error } }: { readonly tx: Detail }) {
  if (lists === null || lists.length === 0) {
    return (
      <Card title="Screening">
        <Empty
          title={
            lists === null ? 'Its verdict is not stored' : 'It was refused before it was screened'
          }
        />
      </Card>
    )
  }
  return (
    <Card title="Screening">
      <p class="small">
        {REFUSED[error?.code ?? ''] ?? 'No address in it is on any of these lists.'}
      </p>
      <ul class="rows">
        {lists.map(({ list, version, checked_at }) => (
          <li key={list}>
            <span class="address">
              {list} <code class="mute">{version}</code>
            </span>
            <span class="mute">
              {/* What came with the service was never fetched. */}
              {Date.parse(checked_at) === 0 ? (
                'built in'
              ) : (
                <>
                  checked <Ago at={checked_at} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
