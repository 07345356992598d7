/** One bar: a figure beside the mark that it should reach, if there is one. */
export interface Bar {
  readonly label: string
  readonly value: number
  /** The text beside the bar. */
  readonly text: string
  readonly mark?: number
  /**
   * The parts of which the value is the sum, in the order of the chart's legend; absent for a bar
   * in one piece.
   */
  readonly parts?: readonly number[]
}

export interface BarGroup {
  readonly title: string
  readonly bars: readonly Bar[]
}

const WIDTH = 760
const LABEL_WIDTH = 250
const BAR_WIDTH = 380
const ROW = 24
const TITLE_ROW = 40
const LEGEND_WIDTH = 150

/**
 * Colours of the pieces of bars, distinguishable by brightness too: each is darker than the next.
 */
const SHADES = ['#27496d', '#4a7fb5', '#8fb8de', '#d0e1f2']

/**
 * An SVG of horizontal bars; each group has its own scale.
 * @param legend the pieces of bars; empty if they have none
 */
export function barChart(groups: readonly BarGroup[], legend: readonly string[] = []): string {
  const parts: string[] = []
  let y = 8
  if (legend.length > 0) {
    legend.forEach((name, index) => {
      const x = 8 + index * LEGEND_WIDTH
      parts.push(
        pieceOf(index, x, y + 6, ROW - 10, ROW - 10),
        `<text x="${x + ROW - 4}" y="${y + 18}">${escaped(name)}</text>`,
      )
    })
    y += ROW + 8
  }
  for (const { title, bars } of groups) {
    const longest = Math.max(...bars.map(({ value, mark }) => Math.max(value, mark ?? 0)), 1e-9)
    parts.push(`<text x="8" y="${y + 22}" class="title">${escaped(title)}</text>`)
    y += TITLE_ROW
    for (const { label, value, text, mark, parts: pieces } of bars) {
      const length = (Math.max(0, value) / longest) * BAR_WIDTH
      parts.push(
        `<text x="8" y="${y + 15}">${escaped(label)}</text>`,
        ...(pieces === undefined
          ? [
              `<rect x="${LABEL_WIDTH}" y="${y + 3}" width="${length.toFixed(1)}" height="${ROW - 8}"/>`,
            ]
          : piecesOf(pieces, longest, y)),
        `<text x="${LABEL_WIDTH + length + 6}" y="${y + 15}">${escaped(text)}</text>`,
      )
      if (mark !== undefined) {
        const x = (LABEL_WIDTH + (mark / longest) * BAR_WIDTH).toFixed(1)
        parts.push(`<line x1="${x}" x2="${x}" y1="${y}" y2="${y + ROW - 2}"/>`)
      }
      y += ROW
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y + 8}" viewBox="0 0 ${WIDTH} ${y + 8}">`,
    '<style>text{font:13px sans-serif;fill:#222}.title{font-weight:bold;font-size:15px}',
    'rect{fill:#4a7fb5}line{stroke:#c33;stroke-width:2}svg{background:#fff}</style>',
    ...parts,
    '</svg>\n',
  ].join('\n')
}

function piecesOf(pieces: readonly number[], longest: number, y: number): readonly string[] {
  let x = LABEL_WIDTH
  return pieces.map((piece, index) => {
    const width = (Math.max(0, piece) / longest) * BAR_WIDTH
    const at = x
    x += width
    return pieceOf(index, at, y + 3, width, ROW - 8)
  })
}

function pieceOf(index: number, x: number, y: number, width: number, height: number): string {
  const shade = SHADES[index % SHADES.length] ?? ''
  const [left, wide] = [x.toFixed(1), width.toFixed(1)]
  return `<rect style="fill:${shade}" x="${left}" y="${y}" width="${wide}" height="${height}"/>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
