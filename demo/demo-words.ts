// Word lists and sentences of the demo catalogue. Everything here is invented; loader names are the taxonomy's data, and a
// loader that the taxonomy at hand lacks is simply never chosen.

const list = (text: string): readonly string[] => text.trim().split(/\s+/)

export const ADJECTIVES = list(`
  Amber Ancient Ashen Autumn Azure Basalt Better Bitter Blazing Bloom Brass Brave Bright Brisk Broken Calm Cinder Clear
  Clever Cloudy Coastal Cobalt Copper Coral Cosmic Cozy Crimson Crooked Crystal Curious Dapper Deep Desert Distant Drifting
  Dusty Eager Easy Echoing Ember Endless Fading Fallen Feral Floating Flooded Forgotten Frosted Gentle Gilded Glacial Golden
  Grand Gravel Handy Harvest Hidden Hollow Humble Idle Iron Ivory Jade Jolly Kind Last Little Lively Lonely Lost Lucky Lunar
  Marble Mellow Mighty Misty Modest Molten Mossy Muddy Nether Nimble Noble Northern Oaken Obsidian Old Opal Open Overgrown
  Painted Pale Patient Plain Polar Proper Quartz Quick Quiet Rainy Rapid Restless Royal Rugged Rustic Rusty Sable Salty Sandy
  Scarlet Secret Shaded Shallow Shifting Silent Silver Simple Sleepy Slow Smoky Snowy Solar Soft Sparse Spruce Starlit Steady
  Steam Stone Stormy Subtle Sunken Sunny Swift Tame Tangled Thorny Tidal Tiny Tranquil Twilight Vast Velvet Verdant Vivid
  Wandering Warm Western Wild Windy Winter Wooden Woven Young`)

export const NOUNS = list(`
  Acorns Anchors Anvils Apiaries Aqueducts Arches Armories Attics Backpacks Bakeries Ballistas Banners Barrels Basements
  Bastions Bazaars Beacons Beehives Bells Bellows Berries Biomes Birches Blossoms Boats Bookshelves Boulders Bridges Brooks
  Burrows Cabins Candles Canyons Caravans Carpets Castles Caverns Cellars Chests Chimneys Clocks Clouds Cobwebs Compasses
  Conveyors Coves Cranes Crates Crossbows Crossroads Crowns Curtains Daggers Dams Deltas Dioramas Docks Doors Dunes Dungeons
  Elevators Embers Engines Fables Farms Feasts Fences Ferns Ferries Fields Fireflies Fjords Flasks Fountains Foxes Furnaces
  Galleries Gardens Gates Gears Geysers Glades Gliders Gnomes Golems Granaries Grottos Groves Hammers Hammocks Harbors
  Harvests Hatches Hedges Helmets Heralds Herbs Hills Hoppers Horizons Huts Islands Jars Journals Junctions Kettles Kilns
  Kingdoms Kites Labyrinths Ladders Lagoons Lanterns Lattices Ledgers Lenses Levers Libraries Lighthouses Locks Looms
  Machines Mailboxes Maps Markets Marshes Masks Meadows Merchants Meteors Mills Mines Mirrors Monoliths Moons Moths Mountains
  Mushrooms Nests Notebooks Oaks Oceans Orchards Outposts Owls Paddocks Pantries Parrots Paths Pebbles Pendants Pipes Pistons
  Plains Planks Portals Potions Pumps Quarries Quests Quills Rafts Railways Rains Ravens Reactors Reefs Relics Ridges Rituals
  Rivers Roads Rooftops Ropes Ruins Runes Saddles Sails Sawmills Scarecrows Scrolls Seasons Seeds Shards Shelves Ships
  Shrines Signals Skies Sluices Smithies Spells Spires Springs Stables Staffs Stairs Statues Storms Streams Structures
  Summits Taverns Temples Tents Terraces Thickets Tides Tinkerers Tombs Torches Towers Towns Trails Trains Trams Traps
  Treasures Trees Tunnels Turbines Valleys Vaults Vessels Villages Vines Volcanoes Wagons Walls Wardrobes Watermills Waypoints
  Weathers Wells Whales Windmills Wizards Wolves Workshops Wrenches`)

export const SUFFIXES = list(
  'fall works craft forge vale haven smith ward bound lore path root shade spark tide gate keep',
)
export const ENDINGS = list(
  'Reforged Redux Revisited Unbound Continued Extended Expanded Plus Overhaul Refined Remastered',
)
export const SHORT_WORDS = list(
  'Sorter Filler Fixer Finder Mapper Planner Tracker Builder Picker Loader Saver Zoomer Stacker',
)
export const PREFIXES = list('Auto Multi Quick Smart Omni Macro Inter Re Un Non')

/** Written name and the Latin text its slug is made from. */
export const FOREIGN_NAMES: readonly (readonly [string, string])[] = [
  ['灯笼工坊', 'lantern-workshop'],
  ['星空之境', 'starry-realm'],
  ['山水世界', 'landscape-world'],
  ['竹林物语', 'bamboo-tales'],
  ['空の庭', 'sky-garden'],
  ['風車の丘', 'windmill-hill'],
  ['のんびり農園', 'easy-farm'],
  ['별빛 마을', 'starlight-village'],
  ['Café Crème', ''],
  ['Fjällstuga', ''],
  ['Jardín Flotante', ''],
  ['Über den Wolken', ''],
  ['Château Brûlé', ''],
  ['Señales', ''],
  ['Øde Øyer', ''],
  ['Żółwie', ''],
]

export const FIRST_NAMES = list(`
  Ada Alma Anouk Aras Bela Bruno Cato Clara Dario Dilan Edda Elio Emre Enya Fenn Fiona Gala Goran Hana Henrik Ida Ilan Imre
  Ines Jana Jonas Juno Kaito Kira Lars Leif Lena Linus Lotte Mads Mara Mei Mika Mira Nadia Nils Noor Odin Olga Orla Otis Pavel
  Petra Quinn Rafa Remy Rhea Rolf Runa Sami Sanna Selma Sven Tariq Tess Theo Tilda Uma Vera Viggo Wanda Wren Xenia Yara Yuki
  Zara Zeno`)

export const HANDLE_WORDS = list(`
  badger birch bolt brook byte cactus clover comet crow dune echo ember falcon fern finch flint fox frost gecko glade hawk
  heron ivy kelp lark lynx maple marsh moth newt oak otter owl pebble pine pixel quill raven reed robin sage sparrow swift
  thistle toad topaz vole willow wren yak`)

export const STUDIO_WORDS = list('Collective Foundry Guild Labs Lodge Makers Press Society Studio Syndicate Team Works')
export const ROLES = list('Developer Artist Maintainer Translator Tester Designer Writer Composer')
export const BIOS = [
  'I make small things and try to keep them small.',
  'Maps, machines and too much coffee.',
  'Building since the early betas.',
  'Reports are welcome, patches even more so.',
  'Part-time tinkerer. Answers on weekends.',
  '',
]

/** How likely a loader is chosen within its project type, and between which dates it was in use. */
export const LOADER_HABITS: Readonly<Record<string, { weight: number; since?: string; until?: string }>> = {
  fabric: { weight: 40, since: '2018-12-10' },
  forge: { weight: 30, since: '2011-11-30' },
  neoforge: { weight: 20, since: '2023-07-25' },
  quilt: { weight: 8, since: '2022-04-20' },
  liteloader: { weight: 1, until: '2018-06-01' },
  modloader: { weight: 1, until: '2013-06-01' },
  rift: { weight: 1, since: '2018-07-20', until: '2019-06-01' },
  paper: { weight: 30, since: '2016-02-29' },
  purpur: { weight: 12, since: '2019-11-10' },
  spigot: { weight: 20, since: '2012-12-24' },
  bukkit: { weight: 12 },
  folia: { weight: 5, since: '2023-04-01' },
  velocity: { weight: 8, since: '2018-07-29' },
  waterfall: { weight: 3, since: '2015-12-01', until: '2024-04-01' },
  iris: { weight: 20, since: '2021-01-15' },
  optifine: { weight: 20 },
}

export type FileForm = 'json' | 'toml' | 'yaml' | 'pack' | 'shader' | 'index' | 'options'

const PLUGIN = [['plugin.yml', 'yaml']] as const
const PACK = ['pack.mcmeta', 'pack'] as const

/** The files by which an archive shows that it is for a loader, and how each is written. */
export const LOADER_FILES: Readonly<Record<string, readonly (readonly [string, FileForm])[]>> = {
  fabric: [['fabric.mod.json', 'json']],
  quilt: [['quilt.mod.json', 'json']],
  forge: [
    ['META-INF/mods.toml', 'toml'],
    ['mcmod.info', 'json'],
  ],
  neoforge: [['META-INF/neoforge.mods.toml', 'toml']],
  liteloader: [['litemod.json', 'json']],
  rift: [['riftmod.json', 'json']],
  mrpack: [
    ['modrinth.index.json', 'index'],
    ['overrides/options.txt', 'options'],
  ],
  bukkit: PLUGIN,
  spigot: PLUGIN,
  paper: PLUGIN,
  purpur: PLUGIN,
  folia: PLUGIN,
  bungeecord: PLUGIN,
  waterfall: PLUGIN,
  velocity: [['velocity-plugin.json', 'json']],
  sponge: [['META-INF/sponge_plugins.json', 'json']],
  datapack: [PACK],
  minecraft: [PACK],
  iris: [['shaders/composite.fsh', 'shader']],
  optifine: [['shaders/composite.fsh', 'shader']],
  canvas: [PACK, ['assets/demo/pipelines/main.fsh', 'shader']],
  vanilla: [PACK, ['assets/minecraft/shaders/main.fsh', 'shader']],
}

/** How likely each project type is; a type not named here counts 1. */
export const TYPE_WEIGHTS: Readonly<Record<string, number>> = {
  mod: 58,
  modpack: 12,
  resourcepack: 14,
  plugin: 8,
  datapack: 5,
  shader: 3,
}

export const LICENSES: readonly (readonly [string, number])[] = [
  ['MIT', 34],
  ['LicenseRef-All-Rights-Reserved', 22],
  ['LGPL-3.0-only', 9],
  ['GPL-3.0-or-later', 9],
  ['Apache-2.0', 6],
  ['MPL-2.0', 5],
  ['CC0-1.0', 4],
  ['CC-BY-NC-SA-4.0', 4],
  ['CC-BY-4.0', 3],
  ['AGPL-3.0-or-later', 2],
  ['MIT OR Apache-2.0', 1],
  ['LicenseRef-Custom', 1],
]

// In the sentences below {thing} is the project's theme in lower case, {name} its name.

export const SUMMARIES: Readonly<Record<string, readonly string[]>> = {
  mod: [
    'Adds {thing} that fit right into the world you already have.',
    'A small mod about {thing}, made to be left running.',
    'Makes {thing} faster without changing what they do.',
    'Build, automate and repair {thing} from the first day to the last.',
    'New {thing}, new blocks and a reason to go and look for both.',
    'Shared code for projects that deal with {thing}.',
  ],
  modpack: [
    'A calm pack around {thing}, with quests for long evenings.',
    'Everything about {thing} in one download, tuned for old laptops.',
    'Survive, explore and rebuild a world of {thing} with friends.',
    'Two hundred hours of {thing}, and every recipe has its place.',
  ],
  resourcepack: [
    'Redraws {thing} in a warm palette, and leaves the rest as it was.',
    'Soft edges and quiet colours for {thing}.',
    'Animated {thing} with matching sounds.',
  ],
  shader: [
    'Light that makes {thing} worth stopping for, at a playable frame rate.',
    'Gentle fog, clear water and {thing} with real shadows.',
  ],
  plugin: [
    'Gives your server {thing} with one file of settings.',
    'Lets players share {thing}, and lets you see who changed what.',
    'Protects {thing} from visitors, and undoes what it could not prevent.',
  ],
  datapack: [
    'Adds {thing} to any world, no client files needed.',
    'Changes how {thing} are made and found; works on servers as it is.',
  ],
}

/** For project types that an operator has added. */
export const OTHER_SUMMARIES = ['All about {thing}.', 'Brings {thing} to your world, carefully.']

export const INTROS = [
  '{name} started as a weekend project about {thing} and has been growing ever since.',
  'There are many projects about {thing}. {name} is the one that tries to stay out of your way.',
  'If you have ever wished that {thing} did a little more, {name} is for you.',
  '{name} changes one part of the game, {thing}, and changes it thoroughly.',
]

export const AUTHORS_NOTES = [
  'This is my first project here. The source is linked on the page, in case that helps.',
  'The pictures are from an older version; I will replace them after the review.',
  'A friend made the icon and agrees with its use. I can send their message if you need it.',
]

export const MODERATORS_ANSWERS = [
  'Thank you. Please say in the description which parts are needed on a server.',
  'Could you name the licence of the sounds? Then this is ready.',
]

export const REJECTION =
  'The description says nothing about what this does. Please describe it in a few sentences, then send it in again.'

/** The type of a report, what it says, and what a moderator answers who closes it. */
export const REPORTS: readonly (readonly [string, string, string])[] = [
  [
    'copyright',
    'The textures are those of another pack, recoloured. I can send both next to each other.',
    'Both authors have told us that they work together. Thank you for looking out.',
  ],
  ['spam', 'The description is a list of links to a server, four times over.', 'The links are gone now.'],
  [
    'malicious',
    'My scanner complains about the newest file. Could somebody have a look?',
    'We looked into the file: it is a false alarm of that scanner.',
  ],
  [
    'name-squatting',
    'An empty project with the name of a well known one, since last year.',
    'The owner has agreed to another name.',
  ],
]

/** What follows the name of a project. */
export const STORIES = [
  'began on a train, on the back of a ticket, as a list of everything that {thing} could not do yet.',
  'was made for one server with {count} players. They asked for {thing}, and would not stop asking.',
  'is the third attempt. The first forgot about {thing}, the second was about nothing else.',
]

export const CLOSINGS = [
  'It has been tested in long worlds and short ones, alone and with friends.',
  'Take it apart, change it, and tell what came of it.',
  'If something about {thing} looks odd, say so: most of what is good here began as a question.',
  'There will be updates as long as there are {thing}.',
]

export const FEATURES = [
  'Works in worlds that exist already, and can be taken out again',
  'Every number can be changed in the settings file',
  'Full support for controllers and screen readers',
  'Recipes show up in the usual recipe viewers',
  'No entities that tick when nobody is near',
  'Translated into {count} languages by its players',
  'Commands for everything, with completion',
  'Twelve advancements, two of them hidden',
  'Tested with {count} other projects side by side',
  'Server owners may switch off each part on its own',
  'New sounds, recorded outdoors',
  'An interface for other authors, documented and stable',
  '{count} new blocks about {thing}',
  'Villagers trade for {thing}',
]

export const QUESTIONS: readonly (readonly [string, string])[] = [
  ['Can I use it in a pack?', 'Yes. A link back is kind but not needed.'],
  ['Will it come to older versions?', 'No. The last fitting version stays available in the list of versions.'],
  ['Does the server need it too?', 'See the environment shown on this page; it is kept up to date.'],
  ['I found a bug. Where do I say so?', 'Open an issue and attach the log, please. Without a log nobody can help.'],
]

export const CHANGES = [
  'Fixed {thing} vanishing when a chunk was saved twice',
  'Fixed a crash on servers without a settings file',
  'Fixed wrong counts after moving {thing} in bulk',
  'Added a setting for the distance at which {thing} are drawn',
  'Added translations for two more languages',
  'Added sounds for {thing}',
  'Made loading about a third faster',
  'Updated to the newest game version',
  'Reworked textures of {thing}',
  'Removed a warning that nobody could act on',
  'Lowered memory use with many {thing}',
  'Changed the default key so that it collides less',
]
