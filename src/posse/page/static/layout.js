// Where nodes stand on the map: blocks of racks of nodes, in units that the view scales.

export const NODE = { width: 20, height: 12, cell: 4, columns: 4 };
const RACK_TITLE = 6;
const GAP = 5;
const BLOCK_GAP = 14;
const BLOCK_TITLE = 8;
const MOST_TRIED = 40;

// Sets boxes in rows of so many, and returns the size of all.
function rows(boxes, perRow) {
  let [x, y, tall, wide] = [0, 0, 0, 0];
  boxes.forEach((box, i) => {
    if (i && i % perRow === 0) {
      y += tall + box.gap;
      [x, tall] = [0, 0];
    }
    box.x = x;
    box.y = y;
    x += box.width + box.gap;
    tall = Math.max(tall, box.height);
    wide = Math.max(wide, x - box.gap);
  });
  return { width: wide, height: y + tall };
}

function rackBox(name, nodes) {
  const columns = Math.max(1, Math.round(Math.sqrt((nodes.length * NODE.height) / NODE.width)));
  const rows = Math.ceil(nodes.length / columns);
  return { name, nodes, columns, gap: GAP, width: columns * NODE.width, height: rows * NODE.height + RACK_TITLE };
}

// One collator for all names, which is quicker than one for each comparison.
const byName = new Intl.Collator("en", { numeric: true }).compare;

function arranged(boxes, racksPerRow, blocksPerRow) {
  for (const block of boxes) {
    const size = rows(block.racks, racksPerRow);
    block.width = size.width;
    block.height = size.height + block.title;
  }
  return rows(boxes, blocksPerRow);
}

// Arranges racks and blocks so that they are shown as large as possible.
function largest(boxes, aspect) {
  const most = Math.min(MOST_TRIED, Math.max(1, ...boxes.map((block) => block.racks.length)));
  let best = { cost: Infinity };
  for (let racks = 1; racks <= most; racks += 1) {
    for (let blocks = 1; blocks <= Math.min(MOST_TRIED, boxes.length); blocks += 1) {
      const { width, height } = arranged(boxes, racks, blocks);
      const cost = Math.max(width / aspect, height);
      if (cost < best.cost) best = { cost, racks, blocks };
    }
  }
  return arranged(boxes, best.racks || 1, best.blocks || 1);
}

export function layout(nodes, aspect) {
  const blocks = new Map();
  for (const name of Object.keys(nodes).sort(byName)) {
    const { block, rack } = nodes[name];
    if (!blocks.has(block)) blocks.set(block, new Map());
    const racks = blocks.get(block);
    if (!racks.has(rack)) racks.set(rack, []);
    racks.get(rack).push(name);
  }
  const boxes = [...blocks.keys()].sort(byName).map((block) => {
    const racks = blocks.get(block);
    return { name: block, title: block ? BLOCK_TITLE : 0, gap: BLOCK_GAP, racks: [...racks.keys()].sort(byName).map((rack) => rackBox(rack, racks.get(rack))) };
  });
  const size = largest(boxes, aspect);
  const places = new Map();
  for (const block of boxes) {
    for (const rack of block.racks) {
      rack.x += block.x;
      rack.y += block.y + block.title;
      rack.nodes.forEach((name, i) => {
        const x = rack.x + (i % rack.columns) * NODE.width;
        const y = rack.y + RACK_TITLE + Math.floor(i / rack.columns) * NODE.height;
        places.set(name, { x, y, rack: rack.name, block: block.name });
      });
    }
  }
  return { blocks: boxes, places, width: Math.max(1, size.width), height: Math.max(1, size.height) };
}
