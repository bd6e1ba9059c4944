//go:build goolm

package client

// sasNames are the emoji of a verification with their names, in the order that the
// specification of Matrix gives them. Some have to be told to look like an emoji, which
// no program compares.
func sasNames() [64]string {
	return [64]string{
		"🐶 Dog", "🐱 Cat", "🦁 Lion", "🐎 Horse",
		"🦄 Unicorn", "🐷 Pig", "🐘 Elephant", "🐰 Rabbit",
		"🐼 Panda", "🐓 Rooster", "🐧 Penguin", "🐢 Turtle",
		"🐟 Fish", "🐙 Octopus", "🦋 Butterfly", "🌷 Flower",
		"🌳 Tree", "🌵 Cactus", "🍄 Mushroom", "🌏 Globe",
		"🌙 Moon", "☁️ Cloud", "🔥 Fire", "🍌 Banana",
		"🍎 Apple", "🍓 Strawberry", "🌽 Corn", "🍕 Pizza",
		"🎂 Cake", "❤️ Heart", "😀 Smiley", "🤖 Robot",
		"🎩 Hat", "👓 Glasses", "🔧 Spanner", "🎅 Santa",
		"👍 Thumbs Up", "☂️ Umbrella", "⌛️ Hourglass", "⏰️ Clock",
		"🎁 Gift", "💡 Light Bulb", "📕 Book", "✏️ Pencil",
		"📎 Paperclip", "✂️ Scissors", "🔒 Lock", "🔑 Key",
		"🔨 Hammer", "☎️ Telephone", "🏁 Flag", "🚂 Train",
		"🚲 Bicycle", "✈️ Aeroplane", "🚀 Rocket", "🏆 Trophy",
		"⚽️ Ball", "🎸 Guitar", "🎺 Trumpet", "🔔 Bell",
		"⚓️ Anchor", "🎧 Headphones", "📁 Folder", "📌 Pin",
	}
}
