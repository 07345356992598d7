import type { ServerResponse } from 'node:http'
import type { UserSideJournal } from './writer.js'

/** What answers of this process wait for. */
export type Settling = Pick<UserSideJournal, 'settled' | 'isOwner'>

/**
 * Has an answer leave once the journal has what was written before it; without the journal it is never
 * told. Handlers of the login say what they have to say when they end it.
 */
export function holdAnswer(response: ServerResponse, { settled }: Settling): void {
  const end = response.end.bind(response) as (...ended: unknown[]) => ServerResponse
  Object.assign(response, {
    end(...ended: unknown[]) {
      const settling = settled()
      if (settling === null) return end(...ended)
      settling.then(
        () => end(...ended),
        () => response.destroy(),
      )
      return response
    },
  })
}

/** Of an owner that may be none any more: nothing is looked at, and nothing decided. */
export function turnAway(response: ServerResponse): void {
  response.writeHead(503, { 'retry-after': '1', 'content-type': 'text/plain' })
  response.end('The login is taken over, or its journal does not answer. Try again in a moment.\n')
}
