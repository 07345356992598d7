/** Server-sent events as received (WHATWG HTML, section 9.2.6). */
export interface Frame {
  /** Empty if the event has none. */
  readonly id: string
  readonly event: string
  readonly data: string
}

/**
 * An event with the longest calldata has some 250 kB; anything far beyond is not an event stream.
 */
const PENDING_CHARS_MAX = 4 * 1_024 * 1_024

/**
 * @returns a function that takes the next piece of text and returns the events that it completes
 */
export function frameReader(): (piece: string) => Frame[] {
  let pending = ''
  return (piece) => {
    pending += piece
    if (pending.length > PENDING_CHARS_MAX)
      throw new Error('The event stream has no end of a line.')
    const parts = pending.split(/\r\n\r\n|\n\n/)
    pending = parts.pop() ?? ''
    return parts.flatMap((part) => frameOf(part))
  }
}

function frameOf(text: string): Frame[] {
  let [id, event] = ['', 'message']
  const data: string[] = []
  for (const line of text.split(/\r\n|\n/)) {
    const [, name, value = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? []
    if (name === 'id') id = value
    else if (name === 'event') event = value
    else if (name === 'data') data.push(value)
  }
  // Frames with only comments keep the connection open.
  return data.length === 0 ? [] : [{ id, event, data: data.join('\n') }]
}
