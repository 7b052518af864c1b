"""What a deployment file may say, how it is read, and how mistakes in it are explained."""
